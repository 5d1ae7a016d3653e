import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api, type Call, detailsOf } from '../../support/api.ts';
import { newBoard, newDelegation, post } from '../../support/cast.ts';
import { changedAndRefused } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, removePerson } from '../../support/state.ts';

forEachDatabase('a board created for a session', (engine) => {
  let server: TestServer;
  let twin: RunningServer | null;
  let pam: Api;
  let machine: Api & { id: string };
  let calls = 0;
  before(async () => {
    server = await startTestServer(engine);
    twin = engine === 'postgres' ? await startTwin(server) : null;
    pam = await server.person('pam');
    machine = await newDelegation(pam);
  });
  after(async () => {
    await twin?.close();
    await server.stop();
  });

  const wish = (more: Record<string, unknown> = {}): Call => ({
    body: { session: `codex:b${++calls}`, harness: 'codex', ...more },
    key: `board ${calls}`,
  });
  const create = (call: Call, from: Api = machine) => from.call('createDelegatedBoard', call);
  const refusal = async (call: Call, from: Api = machine) => {
    const { status, code } = await create(call, from);
    return `${status} ${code}`;
  };

  it('has its person as first owner and an agent of theirs, which no more than any agent may', async () => {
    const { status, body, headers } = await create(
      wish({ name: 'made-for-one', title: 'For one', template: 'writer-reviewer', role: 'writer', agent_name: 'one' }),
    );
    expect([status, headers.get('cache-control')]).to.deep.equal([201, 'no-store']);
    expect(body).to.have.all.keys('agent', 'token', 'board');
    expect(body.agent).to.include({ name: 'one', role: 'writer', harness: 'codex', owner: 'pam' });
    expect(body.board).to.include({ name: 'made-for-one', title: 'For one', on_board: true, agent_count: 1 });
    expect(body.board).not.to.have.any.keys('read_up_to', 'unread', 'needs_reply');
    expect([body.board.can_archive, body.board.created_by.name]).to.deep.equal([false, 'pam']);
    const { events } = await pam.ok('listEvents', { params: { board: 'made-for-one' } });
    const via = { via: 'delegation', delegation_id: machine.id };
    expect(events.map(({ type }) => type)).to.deep.equal(['board.created', 'member.joined', 'member.joined']);
    expect(events[0]?.data).to.include({ agent_id: body.agent.id, ...via });
    expect(events[1]?.data).to.include({ kind: 'human', access: 'admin' }).and.not.to.have.property('via');
    expect(events[2]?.data).to.include({ member_id: body.agent.id, ...via });
    expect(new Set(events.map(({ actor }) => actor.name))).to.deep.equal(new Set(['pam']));
    const { people } = await pam.ok('listBoardPeople', { params: { board: 'made-for-one' } });
    expect(people.map(({ handle, board_role }) => [handle, board_role])).to.deep.equal([['pam', 'owner']]);
    const agent = new Api(server.url, body.token);
    await post(agent, 'made-for-one', 'hello');
    // The seat is the session's: the same session gets it again.
    const again = await machine.ok('joinBoard', { body: { board: 'made-for-one', session: `codex:b${calls}` } });
    expect([again.reused, again.agent.id]).to.deep.equal([true, body.agent.id]);
  });

  it('is found by the rules of every new board', async () => {
    const { body } = await create(wish());
    expect(body.board).to.include({ name: 'board', visibility: 'open', template: null });
    expect(body.agent).to.include({ name: 'codex', role: 'member' });
    const hidden = (await create(wish({ visibility: 'private', template: 'general', preset: 'recommended' }))).body;
    expect(hidden.board).to.include({ name: 'general', visibility: 'private', agents_add_people: false });
    expect(hidden.board.policy.preset).to.equal('recommended');
    expect(await refusal(wish({ name: 'general' }))).to.equal('409 board_name_taken');
    expect(await refusal(wish({ template: 'nothing' }))).to.equal('422 template_not_found');
    expect(await refusal(wish({ title: 'two\nlines' }))).to.equal('422 invalid_request');
    expect(await refusal(wish({ title: 'a\u200bb' }))).to.equal('422 invalid_request');
    const secret = (await create(wish({ charter: `use ${server.dana.token}\r\nwell` }))).body.board.charter;
    expect(secret).not.to.include(server.dana.token).and.not.to.include('\r');
  });

  it('is refused whole: nothing of it is left, no name used up', async () => {
    const changed = await changedAndRefused(server, async () => {
      for (const [more, expected] of [
        [{ harness: 'claude-code' }, '422 invalid_request'],
        [{ role: 'nobody' }, '422 role_not_found'],
        [{ agent_name: 'pam' }, '409 name_taken'],
        [{ agent_name: 'all' }, '409 name_taken'],
      ] as const) {
        expect(await refusal(wish({ name: 'never-made', ...more })), JSON.stringify(more)).to.equal(expected);
      }
    });
    expect(changed).to.equal(0);
    expect((await create(wish({ name: 'never-made' }))).status).to.equal(201);
    const plain = { session: 'codex:x', harness: 'codex' };
    for (const body of [
      {},
      { session: 'codex:x' },
      { harness: 'codex' },
      { ...plain, session: 'x' },
      { ...plain, role: 'No' },
      { ...plain, name: 'X' },
      { ...plain, extra: 1 },
    ]) {
      expect(await refusal({ body, key: 'shape' }), JSON.stringify(body)).to.equal('400 invalid_request');
    }
  });

  it('is for delegations only, of people who may create boards', async () => {
    const gus = await server.person('gus', 'guest');
    const ada = await server.person('ada', 'admin');
    expect(await refusal(wish(), pam)).to.equal('403 forbidden');
    expect(await refusal(wish(), await newDelegation(gus))).to.equal('403 guest_not_allowed');
    const ended = await newDelegation(pam, 'ended');
    await pam.ok('endDelegation', { params: { delegation: ended.id } });
    expect(await refusal(wish(), ended)).to.equal('401 delegation_revoked');
    await server.dana.ok('updateSettings', { body: { board_creation: 'admins' } });
    for (const admins of [machine, await newDelegation(ada)]) {
      expect(await refusal(wish({ harness: 'x' }), admins)).to.equal('403 board_creation_restricted');
    }
    await server.dana.ok('updateSettings', { body: { board_creation: 'members' } });
    expect((await create(wish(), machine)).status).to.equal(201);
  });

  it('needs a key of the client’s', async () => {
    const { body } = wish();
    expect(await refusal({ body })).to.equal('400 invalid_request');
    expect(await refusal({ body, key: '' })).to.equal('400 invalid_request');
  });

  describe('whose answer was lost', () => {
    it('comes back whole with the token, and makes nothing new', async () => {
      const call = wish();
      const first = await create(call);
      const again = await create(call);
      expect([again.status, again.replayed, again.text]).to.deep.equal([201, true, first.text]);
      const { name } = first.body.board;
      expect((await pam.ok('getBoard', { params: { board: name } })).head_seq).to.equal(3);
      await new Api(server.url, again.body.token).ok('getMe');
      expect(await refusal({ ...call, body: wish().body })).to.equal('422 idempotency_conflict');
      const [kept] = await server.db.read((tx) =>
        tx.query<{ class: string; body: Buffer }>((db) => db('idempotency').where({ key: call.key })),
      );
      expect([kept?.class, kept?.body.includes(Buffer.from('aba_'))]).to.deep.equal(['R', false]);
      server.clock.advance(86_400_000);
      const later = await create(call);
      expect([later.replayed, later.body.board.name === name]).to.deep.equal([false, false]);
    });

    it('keeps a refusal too, but not what an archived board of the name told to callers who may no longer read it', async () => {
      await newBoard(server.dana, { name: 'old-one' });
      await changeBoard(server, 'old-one', { lifecycle: 'archived' });
      const call = wish({ name: 'old-one' });
      const refused = await create(call);
      expect(detailsOf(refused)).to.deep.equal({ lifecycle: 'archived' });
      expect((await create(call)).replayed).to.equal(true);
      await changeBoard(server, 'old-one', { visibility: 'private' });
      expect(detailsOf(await create(call))).to.equal(undefined);
    });

    it('is refused with what stands in the way: delegation, board, archive, seat, token, in this order', async () => {
      const made = async (from: Api = machine) => {
        const call = wish();
        const { body } = await create(call, from);
        return { call, board: body.board.name, agent: body.agent.id, session: `codex:b${calls}` };
      };
      const rotated = await made();
      await machine.ok('joinBoard', { body: { board: rotated.board, session: rotated.session } });
      expect(await refusal(rotated.call)).to.equal('409 seat_token_replaced');

      const ended = await made();
      await endMember(server, ended.agent);
      const refused = await create(ended.call);
      expect([refused.status, refused.code]).to.deep.equal([403, 'agent_removed']);
      expect(detailsOf(refused)).to.have.all.keys('agent', 'removed_at', 'removed_by');

      await changeBoard(server, ended.board, { lifecycle: 'archived' });
      expect(await refusal(ended.call)).to.equal('409 board_archived');
      await endMember(server, await memberIdOf(server, ended.board, pam), 'left');
      expect(await refusal(ended.call)).to.equal('404 board_not_found');

      const gone = await made();
      await changeBoard(server, gone.board, { lifecycle: 'deleted' });
      expect(await refusal(gone.call)).to.equal('404 board_not_found');

      const rob = await server.person(`rob-${calls}`);
      const robs = await newDelegation(rob);
      const lost = await made(robs);
      await removePerson(server, rob);
      expect(await refusal(lost.call, robs)).to.equal('401 delegation_revoked');
    });

    it('is not for another delegation, nor found by it', async () => {
      const call = wish();
      const first = await create(call);
      const other = await newDelegation(pam, `other-${calls}`);
      const again = await create(call, other);
      expect([again.replayed, again.body.board.name === first.body.board.name]).to.deep.equal([false, false]);
    });
  });

  it('is one for many requests with one key, in one process or two', async () => {
    const call = wish();
    const there = new Api(twin?.url ?? server.url, machine.token);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_unused, n) => create(call, n % 2 ? machine : there)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect(answers.filter(({ replayed }) => !replayed)).to.have.length(1);
  });
});
