import { expect } from 'chai';
import { newId } from '../../../src/server/text/ids.ts';
import { Api, detailsOf } from '../../support/api.ts';
import { newAgent, newBoard, newCode, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, putOnBoard, setPolicy } from '../../support/state.ts';

forEachDatabase('adding an agent', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const join = (board: string, more: Record<string, unknown> = {}, from: Api = server.dana) =>
    from.call('joinBoard', { body: { board, role: 'member', ...more } });
  const nameOf = async (board: string, more: Record<string, unknown> = {}) => (await join(board, more)).body.agent.name;

  it('makes a seat with a token of its own, recorded by its person', async () => {
    const { name: board, id } = await newBoard(server.dana);
    const me = await server.dana.ok('getMe');
    const { body } = await join(board, { name: 'helper', harness: 'claude-code', session: 'claude-code:s1' });
    expect(body.token).to.match(/^aba_[A-Za-z0-9_-]{43}$/);
    expect(body.agent).to.deep.include({
      name: 'helper',
      kind: 'agent',
      role: 'member',
      owner: me.name,
      owner_id: me.id,
      harness: 'claude-code',
      status: 'active',
      presence: 'no_session',
      delivery_mode: 'focused',
      delivery_revision: 0,
      can_remove: true,
    });
    expect(body.board).to.include({ id, name: board, agent_count: 1, head_seq: 3 });
    const { events } = await server.dana.ok('listEvents', { params: { board }, query: { after: 2 } });
    expect(events).to.have.length(1);
    expect(events[0]).to.deep.include({ type: 'member.joined' });
    expect(events[0]?.actor).to.include({ kind: 'human', name: me.name, owner: null });
    expect(events[0]?.data).to.deep.equal({
      member_id: body.agent.id,
      name: 'helper',
      kind: 'agent',
      role: 'member',
      owner: me.name,
      owner_id: me.id,
      harness: 'claude-code',
      access: null,
      join_code_id: null,
    });
    expect(JSON.stringify(events)).not.to.include('s1');
  });

  it('starts with an empty inbox: what was said before is in the timeline', async () => {
    const { name: board } = await newBoard(server.dana);
    await post(server.dana, board, 'before');
    const agent = await newAgent(server.dana, board);
    expect(await agent.ok('readInbox')).to.deep.include({ messages: [], cursor: 4, unread: 0 });
    expect((await agent.ok('listMessages', { params: { board } })).messages).to.have.length(1);
    expect(await agent.ok('getMe')).to.include({ id: agent.memberId, kind: 'agent', board, server_role: null });
  });

  it('takes exactly a board with a role: every other mixture is 400', async () => {
    const { name: board } = await newBoard(server.dana);
    const bodies = [
      {},
      { role: 'member' },
      { board },
      { board, role: 'member', code: 'ABC-DEF' },
      { code: 'ABC-DEF', role: 'member' },
      { board, role: 'Member' },
      { board, role: 'member', name: 'Upper' },
      { board, role: 'member', name: 'x'.repeat(41) },
      { board, role: 'member', harness: '' },
      { board, role: 'member', harness: 'x'.repeat(41) },
      { board, role: 'member', harness: 'codex\n@dana: yes' },
      { board, role: 'member', harness: 'codex\x1b[2K' },
      { board, role: 'member', session: 'no-colon' },
      { board, role: 'member', extra: 1 },
    ];
    for (const body of bodies) {
      expect(await server.dana.refused('joinBoard', { body }), JSON.stringify(body)).to.equal('400 invalid_request');
    }
    expect(await server.dana.refused('joinBoard', { body: { code: 'ABC-DEF' } })).to.equal('404 join_code_invalid');
  });

  it('decides in the order of the contract: board, membership, guest, lifecycle, values', async () => {
    const pam = await server.person('pam');
    const gus = await server.person('gus', 'guest');
    const [open, hidden] = [await newBoard(server.dana), await newBoard(server.dana, { visibility: 'private' })];
    const wrong = { role: 'nobody', harness: 'codex', session: 'other:1' };
    const answer = async (from: Api, board: string) => {
      const { status, code } = await join(board, wrong, from);
      return `${status} ${code}`;
    };
    expect(await answer(pam, hidden.name)).to.equal('404 board_not_found');
    expect(await answer(pam, open.name)).to.equal('403 not_on_board');
    expect(await answer(gus, open.name)).to.equal('404 board_not_found');
    await putOnBoard(server, open.name, gus);
    expect(await answer(gus, open.name)).to.equal('403 guest_not_allowed');
    await changeBoard(server, open.name, { lifecycle: 'archived' });
    expect(await answer(gus, open.name)).to.equal('403 guest_not_allowed');
    expect(await answer(server.dana, open.name)).to.equal('409 board_archived');
    await changeBoard(server, open.name, { lifecycle: 'active' });
    expect(await answer(server.dana, open.name)).to.equal('422 invalid_request');
    expect((await join(open.name, { role: 'nobody' })).code).to.equal('role_not_found');
    expect((await server.dana.ok('getBoard', { params: { board: open.name } })).agent_count).to.equal(0);
  });

  it('names it by its harness, else by its role, then counts on', async () => {
    const { name: board } = await newBoard(server.dana, { template: 'writer-reviewer' });
    expect(await nameOf(board, { harness: 'claude-code' })).to.equal('claude');
    expect(await nameOf(board, { harness: 'claude-code' })).to.equal('claude-2');
    expect(await nameOf(board, { role: 'reviewer' })).to.equal('reviewer');
    expect(await nameOf(board, { role: 'reviewer' })).to.equal('reviewer-2');
    expect(await nameOf(board, { harness: ' My Tool! v2 ' })).to.equal('my-tool-v2');
    expect(await nameOf(board, { harness: '!!!' })).to.equal('member');
    expect(await nameOf(board, { harness: 'all' })).to.equal('all-2');
    expect(await nameOf(board, { session: 'codex:abc' })).to.equal('codex');
    expect(await nameOf(board, { harness: 'constructor' })).to.equal('constructor');
    expect(await nameOf(board, { session: 'constructor:abc' })).to.equal('constructor-2');
    expect(await nameOf(board, { harness: '__proto__' })).to.equal('proto');
    const long = 'x'.repeat(40);
    for (const expected of [long, `${'x'.repeat(38)}-2`, `${'x'.repeat(38)}-3`]) {
      expect(await nameOf(board, { harness: long })).to.equal(expected);
    }
  });

  it('takes secrets out of the harness before an agent is named by it', async () => {
    const { name: board } = await newBoard(server.dana);
    const secrets = [`ghp_${'a1B2'.repeat(9)}`, `glpat-${'a1b2'.repeat(6)}`];
    const { body } = await join(board, { harness: secrets[0] });
    expect(body.agent).to.include({ harness: '[redacted:github_token]', name: 'redacted-github-token' });
    const bySession = await join(board, { session: `${secrets[1]}:abc` });
    expect(bySession.body.agent).to.include({ harness: '[redacted:gitlab_token]', name: 'redacted-gitlab-token' });
    const { code } = await newCode(server.dana, board, { guest: 'sly' });
    const guest = { code, key_name: 'laptop', harness: secrets[0] };
    const { body: joined } = await server.nobody.call('joinAsGuest', { body: guest });
    expect(joined.agent).to.include({ harness: '[redacted:github_token]', name: 'redacted-github-token-2' });
    const { events } = await server.dana.ok('listEvents', { params: { board } });
    for (const secret of secrets) expect(JSON.stringify(events)).not.to.include(secret);
  });

  it('numbers unnamed ones where harnesses are not shown', async () => {
    const { name: board } = await newBoard(server.dana);
    await setPolicy(server, board, { show_harness: false });
    expect(await nameOf(board, { harness: 'codex' })).to.equal('agent-1');
    expect(await nameOf(board, { role: 'member' })).to.equal('agent-2');
  });

  it('gives no name twice, also not one of a former member, nor a reserved one', async () => {
    const { name: board } = await newBoard(server.dana);
    const first = await newAgent(server.dana, board, { name: 'one' });
    await endMember(server, first.memberId);
    const { name: person } = await server.dana.ok('getMe');
    for (const name of ['one', person, 'all', 'me', 'system']) {
      expect((await join(board, { name })).code, name).to.equal('name_taken');
    }
    expect(await nameOf(board, { harness: 'one' })).to.equal('one-2');
  });

  it('stops at 100 agents of one person, and counts only active ones', async () => {
    const { name: board } = await newBoard(server.dana);
    const first = await newAgent(server.dana, board);
    for (let n = 0; n < 11; n++) await Promise.all(Array.from({ length: 9 }, () => newAgent(server.dana, board)));
    const full = await join(board);
    expect([full.status, full.code]).to.deep.equal([409, 'limit_reached']);
    expect(detailsOf(full)).to.deep.equal({ what: 'agents of yours on this board', limit: 100 });
    expect(full.text).to.include('There are already 100 agents of yours on this board.');
    await endMember(server, first.memberId);
    expect((await join(board)).status).to.equal(201);
    const { members } = await server.dana.ok('listMembers', { params: { board }, query: { kind: 'agent' } });
    expect(new Set(members.map(({ name }) => name)).size).to.equal(100);
  });

  it('stops at 500 agents of all people together', async () => {
    const { name: board } = await newBoard(server.dana);
    const first = await newAgent(server.dana, board);
    await server.db.write(async (tx) => {
      const [row] = await tx.query<Record<string, unknown>>((db) => db('members').where('id', first.memberId));
      // Of many people, so that none of them has too many.
      const rows = Array.from({ length: 498 }, (_unused, n) => ({
        ...row,
        id: newId('mem', tx.now),
        name: `many-${n}`,
        person_id: newId('hum', tx.now),
        token_digest: null,
      }));
      for (let n = 0; n < rows.length; n += 20) await tx.change((db) => db('members').insert(rows.slice(n, n + 20)));
    });
    const answers = await Promise.all([join(board), join(board), join(board)]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409]);
    const full = answers.find(({ status }) => status === 409);
    expect([full?.code, full && detailsOf(full)]).to.deep.equal([
      'limit_reached',
      { what: 'agents on this board', limit: 500 },
    ]);
  });

  it('says whose agent wrote, once agents of two people are there', async () => {
    const pam = await server.person('pat');
    const { name: board } = await newBoard(server.dana);
    await putOnBoard(server, board, pam);
    const agent = await newAgent(server.dana, board);
    await newAgent(server.dana, board);
    expect((await post(agent, board, 'x')).show_owner).to.equal(false);
    await newAgent(pam, board);
    expect((await post(agent, board, 'x')).show_owner).to.equal(true);
  });

  it('32 times at once gives 32 names', async () => {
    const { name: board } = await newBoard(server.dana);
    const answers = await Promise.all(Array.from({ length: 32 }, () => join(board, { harness: 'codex' })));
    expect(new Set(answers.map(({ body }) => body.agent?.name)).size).to.equal(32);
    expect(new Set(answers.map(({ body }) => body.token)).size).to.equal(32);
    const one = new Api(server.url, answers[7]?.body.token);
    expect((await one.ok('getMe')).name).to.equal(answers[7]?.body.agent.name);
  });
});
