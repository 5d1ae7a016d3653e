import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, putOnBoard } from '../../support/state.ts';

forEachDatabase('changing a board', (engine) => {
  let server: TestServer;
  let pam: Api;
  let dana: string;
  let board: string;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    dana = (await server.dana.ok('getMe')).name;
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
  });
  after(() => server.stop());

  const patch = (body: Record<string, unknown>, from: Api = server.dana, key?: string) =>
    from.call('updateBoard', { params: { board }, body, key });
  const refused = async (body: Record<string, unknown>, from: Api = server.dana) => {
    const { status, code } = await patch(body, from);
    return code === undefined ? String(status) : `${status} ${code}`;
  };
  const detailsOf = (answer: { body: unknown }) =>
    (answer.body as { error: { details: Record<string, unknown> } }).error.details;
  /** The events since the board was set up. */
  const events = async () => (await server.dana.ok('listEvents', { params: { board }, query: { after: 3 } })).events;
  const types = async () => (await events()).map((event) => event.type);
  const roles = async () => (await server.dana.ok('getBoard', { params: { board } })).roles;

  it('records each change once, in one order, and answers the board as it is then', async () => {
    const { body: before } = await server.dana.call('getBoard', { params: { board } });
    const { status, body } = await patch({
      task_prefix: 'CHK',
      agents_add_people: false,
      policy: { urgent: 'granted' },
      roles: { member: { can: ['post'] }, lead: { can: ['post', { claim_tasks: ['bug'] }], charter: 'You\r\nlead' } },
      charter: 'New\r\ncharter',
      title: '  Retry design ',
    });
    expect(status).to.equal(200);
    expect(body).to.include({
      title: 'Retry design',
      charter: 'New\ncharter',
      agents_add_people: false,
      task_prefix: 'CHK',
    });
    expect(body.roles).to.deep.equal({
      member: { can: ['post'] },
      lead: { can: ['post', { claim_tasks: ['bug'] }], charter: 'You\nlead' },
    });
    expect(body.task_prefixes).to.deep.equal(['CHK']);
    expect(body.policy).to.deep.include({ preset: 'starter', urgent: 'granted', overrides: ['urgent'] });
    expect(await server.dana.ok('getBoard', { params: { board } })).to.deep.equal(body);
    const recorded = await events();
    expect(recorded.map((event) => [event.type, event.data])).to.deep.equal([
      ['board.titled', { before: null, after: 'Retry design' }],
      [
        'board.config_changed',
        { charter: { before: '', after: 'New\ncharter' }, roles: { before: before.roles, after: body.roles } },
      ],
      ['board.policy_changed', { before: before.policy, after: body.policy, preset_applied: null }],
      ['board.agents_add_people_changed', { agents_add_people: false }],
      ['board.task_prefix_set', { before: null, after: 'CHK' }],
    ]);
    for (const event of recorded) expect(event.actor).to.include({ kind: 'human', name: dana });
  });

  it('writes nothing where nothing changes', async () => {
    await patch({
      title: 'One',
      charter: 'c',
      policy: { preset: 'recommended', urgent: 'everyone' },
      task_prefix: 'ONE',
    });
    const before = await events();
    expect(before.map((event) => event.type)).to.have.length(4);
    const again = await patch({
      title: 'One',
      charter: 'c',
      roles: await roles(),
      policy: { preset: 'recommended', urgent: 'everyone' },
      agents_add_people: true,
      task_prefix: 'ONE',
    });
    expect(again.status).to.equal(200);
    expect(await events()).to.deep.equal(before);
    expect((await patch({ title: ' ' })).body.title).to.equal(null);
    expect((await events()).at(-1)?.data).to.deep.equal({ before: 'One', after: null });
  });

  it('applies a preset first and the other keys then, and notes the preset', async () => {
    const { body } = await patch({ policy: { preset: 'recommended', urgent: 'everyone' } });
    expect(body.policy).to.deep.equal({
      preset: 'recommended',
      visibility: 'addressed',
      broadcast: 'granted',
      urgent: 'everyone',
      show_harness: true,
      nudges: 'on',
      agent_run: { notice: 12, hold: 30 },
      stale_after: 1_800,
      overrides: ['urgent'],
    });
    expect((await events()).at(-1)?.data).to.deep.include({ preset_applied: 'recommended' });
    const later = await patch({ policy: { show_harness: false, nudges: 'off' } });
    expect(later.body.policy.overrides).to.deep.equal(['urgent', 'show_harness', 'nudges']);
    expect((await patch({ policy: { preset: 'starter' } })).body.policy.overrides).to.deep.equal([]);
  });

  it('lets agents read the whole history as soon as the policy says so, and hides it at once', async () => {
    await patch({ policy: { preset: 'recommended' } });
    const agent = await newAgent(server.dana, board);
    await post(server.dana, board, 'not for the agent', { to: ['@pam'] });
    const seen = async () => ({
      messages: (await agent.ok('listMessages', { params: { board } })).messages.length,
      count: (await agent.ok('getBoard', { params: { board } })).message_count,
    });
    expect(await seen()).to.deep.equal({ messages: 0, count: null });
    expect((await patch({ policy: { visibility: 'open' } })).body.policy.overrides).to.deep.equal(['visibility']);
    expect(await seen()).to.deep.equal({ messages: 1, count: 1 });
    await patch({ policy: { visibility: 'addressed' } });
    expect(await seen()).to.deep.equal({ messages: 0, count: null });
  });

  it('changes what agents of a role may do from the next request on', async () => {
    const agent = await newAgent(server.dana, board);
    await post(agent, board, 'allowed');
    await patch({ roles: { member: { can: [] } } });
    expect(await agent.refused('postMessage', { params: { board }, body: { body: 'x' } })).to.equal('403 forbidden');
    await patch({ roles: { member: { can: ['post'] } }, policy: { broadcast: 'granted' } });
    expect(await agent.refused('postMessage', { params: { board }, body: { body: 'x', to: ['all'] } })).to.equal(
      '403 broadcast_not_allowed',
    );
    await patch({ roles: { member: { can: ['post', 'broadcast'] } } });
    await post(agent, board, 'to all', { to: ['all'] });
  });

  it('keeps a role that an active agent holds, and revokes the codes of a dropped one', async () => {
    await patch({ roles: { member: { can: ['post'] }, writer: { can: [] }, reviewer: { can: ['post'] } } });
    const agent = await newAgent(server.dana, board, { role: 'reviewer', name: 'rex' });
    const dropping = { roles: { member: { can: ['post'] }, writer: { can: [] } }, charter: 'not written either' };
    const held = await patch(dropping);
    expect([held.status, held.code]).to.deep.equal([409, 'role_in_use']);
    expect(detailsOf(held)).to.deep.equal({ roles: [{ role: 'reviewer', agents: ['rex'] }] });
    expect((await server.dana.ok('getBoard', { params: { board } })).charter).to.equal('');
    await endMember(server, agent.memberId);
    const codes = await addCodes(['reviewer', 'writer', 'reviewer']);
    expect(await refused(dropping)).to.equal('200');
    const after = (await events()).slice(-3);
    expect(after.map((event) => event.type)).to.deep.equal([
      'board.config_changed',
      'joincode.revoked',
      'joincode.revoked',
    ]);
    expect(after.slice(1).map((event) => event.data?.['join_code_id'])).to.deep.equal([codes[0], codes[2]]);
  });

  /** Working codes for these roles, made directly: what they are for is another story. */
  async function addCodes(of: string[]): Promise<string[]> {
    const { id } = await server.dana.ok('getBoard', { params: { board } });
    return server.db.write(async (tx) => {
      const ids = of.map((_role, n) => `jc_${String(tx.now * 100 + n).padStart(26, '0')}`);
      for (const [n, role] of of.entries()) {
        const row = { id: ids[n], board_id: id, digest: Buffer.from(`${ids[n]}`), kind: 'pairing', role, uses: 0 };
        const maker = { maker_member_id: 'mem_x', maker_person_id: 'hum_x' };
        const times = { created_at: tx.now + n, expires_at: tx.now + 60_000 };
        await tx.change((db) => db('join_codes').insert({ ...row, ...maker, ...times }));
      }
      return ids;
    });
  }

  it('refuses roles no board can have', async () => {
    const can = ['post'];
    const many = Object.fromEntries(Array.from({ length: 20 }, (_unused, n) => [`role-${n}`, { can }]));
    for (const bad of [{}, { lead: { can } }, { member: { can: ['post', 'post'] } }, { ...many, member: { can } }]) {
      expect(await refused({ roles: bad }), JSON.stringify(bad)).to.equal('422 invalid_request');
    }
    const twice = { member: { can: ['claim_tasks', { claim_tasks: ['bug'] }] } };
    expect(await refused({ roles: twice })).to.equal('422 invalid_request');
    const shapes = [
      { member: { can: ['fly'] } },
      { member: {} },
      { member: { can, extra: 1 } },
      { Member: { can } },
      JSON.parse('{ "member": { "can": [] }, "__proto__": { "can": [] } }'),
      { member: { can, charter: 'x'.repeat(4_001) } },
      { member: { can: [{ claim_tasks: [] }] } },
      { member: { can: [{ claim_tasks: Array.from({ length: 21 }, () => 'x') }] } },
      { member: { can: Array.from({ length: 11 }, () => 'post') } },
    ];
    for (const bad of shapes) {
      expect(await refused({ roles: bad }), JSON.stringify(bad)).to.equal('400 invalid_request');
    }
    delete many['role-0'];
    expect(await refused({ roles: { ...many, member: { can, charter: 'x\r\n'.repeat(2_000) } } })).to.equal('200');
  });

  it('refuses a body without a change, and invalid values', async () => {
    const shapes = [{}, { nonsense: 1 }, { policy: {} }, { policy: { overrides: [] } }, { policy: { preset: 'wild' } }];
    for (const body of [...shapes, { title: 'x'.repeat(81) }, { title: null }, { charter: 'x'.repeat(8_001) }]) {
      expect(await refused(body), JSON.stringify(body)).to.equal('400 invalid_request');
    }
    for (const title of ['two\nlines', 'a\u200bb', '\u202eb'])
      expect(await refused({ title })).to.equal('422 invalid_request');
    for (const task_prefix of ['', 'A', 'chk', '1AB', 'ABCDEFG', 'A-B', 'ÄB']) {
      expect(await refused({ task_prefix }), task_prefix).to.equal('422 task_prefix_invalid');
    }
    expect(await types()).to.deep.equal([]);
  });

  it('takes secrets out of title, charter, and the charters and task types of roles', async () => {
    const secret = `abh_${'S'.repeat(43)}`;
    const { body } = await patch({
      title: `t ${secret}`,
      charter: `c ${secret}`,
      roles: { member: { can: ['post', { claim_tasks: ['bug', secret] }], charter: `r ${secret}` } },
    });
    expect(JSON.stringify(body)).not.to.include(secret);
    expect(JSON.stringify(await events())).not.to.include(secret);
  });

  it('gives a prefix to one board for good, and a board back its own', async () => {
    const other = (await newBoard(server.dana)).name;
    const set = (name: string, task_prefix: string) =>
      server.dana.call('updateBoard', { params: { board: name }, body: { task_prefix } });
    expect((await set(board, 'P1')).status).to.equal(200);
    expect((await set(board, 'P2')).status).to.equal(200);
    for (const taken of ['P1', 'P2']) expect((await set(other, taken)).code).to.equal('task_prefix_taken');
    expect((await set(board, 'P1')).body.task_prefixes).to.deep.equal(['P1', 'P2']);
    await changeBoard(server, board, { lifecycle: 'deleted' });
    expect((await set(other, 'P2')).code).to.equal('task_prefix_taken');
  });

  it('is for owners; a title and a prefix also for their agents, a charter by grant', async () => {
    const gus = await server.person(`gus-${board}`, 'guest');
    await putOnBoard(server, board, gus);
    await patch({ roles: { member: { can: ['post'] }, editor: { can: ['edit_charter'] } } });
    const [own, pams, editor] = [
      await newAgent(server.dana, board),
      await newAgent(pam, board),
      await newAgent(pam, board, { role: 'editor' }),
    ];
    const keys = {
      title: 'T',
      charter: 'C',
      roles: { member: { can: ['post'] }, editor: { can: ['edit_charter'] } },
      policy: { nudges: 'off' },
      agents_add_people: false,
      task_prefix: 'TT',
    };
    const answers = async (from: Api) => {
      const all: string[] = [];
      for (const [key, value] of Object.entries(keys)) all.push((await refused({ [key]: value }, from)).slice(4));
      return all;
    };
    const six = (answer: string) => Array.from({ length: 6 }, () => answer);
    expect(await answers(pam)).to.deep.equal([
      ...['admin_required', 'admin_required', 'admin_required', 'admin_required', 'owner_required', 'admin_required'],
    ]);
    expect(await answers(gus)).to.deep.equal(six('guest_not_allowed'));
    expect(await answers(await server.person(`eve-${board}`))).to.deep.equal(six('not_on_board'));
    expect(await answers(pams)).to.deep.equal(six('human_token_required'));
    const no = 'human_token_required';
    expect(await answers(editor)).to.deep.equal([no, '', no, no, no, no]);
    expect(await answers(own)).to.deep.equal(['', no, no, no, no, '']);
    expect((await patch({ title: 'x' }, pam)).text).to.include(dana);
    expect((await events()).filter((event) => event.actor.kind === 'agent')).to.have.length(3);
  });

  it('changes nothing when one key is refused', async () => {
    const agent = await newAgent(server.dana, board);
    expect(await refused({ title: 'T', policy: { nudges: 'off' } }, agent)).to.equal('403 human_token_required');
    expect(await refused({ title: 'T', task_prefix: 'bad' })).to.equal('422 task_prefix_invalid');
    expect(await types()).to.deep.equal(['member.joined']);
    expect((await patch({ title: 'T' }, agent)).body.title).to.equal('T');
    expect((await events()).at(-1)?.actor).to.include({ kind: 'agent', member_id: agent.memberId });
  });

  it('on an archive only forbids agents to add people', async () => {
    await changeBoard(server, board, { lifecycle: 'archived' });
    for (const body of [{ title: 'x' }, { policy: { nudges: 'off' } }, { agents_add_people: true }]) {
      expect(await refused(body)).to.equal('409 board_archived');
    }
    expect(await refused({ agents_add_people: false, title: 'x' })).to.equal('409 board_archived');
    expect(await refused({ agents_add_people: false }, pam)).to.equal('403 owner_required');
    expect((await patch({ agents_add_people: false })).body).to.include({ agents_add_people: false });
    expect(await types()).to.deep.equal(['board.archived', 'board.agents_add_people_changed']);
  });

  it('is replayed under its key, and not to somebody off the board', async () => {
    await server.dana.ok('makeBoardOwner', { params: { board }, body: { handle: 'pam' } });
    const first = await patch({ title: 'Once' }, pam, 'once');
    expect((await patch({ title: 'Once' }, pam, 'once')).replayed).to.equal(true);
    expect((await patch({ title: 'Once' }, pam, 'once')).text).to.equal(first.text);
    await endMember(server, (await pam.ok('getMember', { params: { board, member: 'pam' } })).id, 'left');
    expect((await patch({ title: 'Once' }, pam, 'once')).code).to.equal('not_on_board');
  });

  it('of two boards that want one prefix at once lets one have it', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const there = new Api(twin?.url ?? server.url, server.dana.token);
    for (const task_prefix of ['RA', 'RB', 'RC', 'RD', 'RE', 'RF', 'RG', 'RH', 'RI', 'RJ']) {
      const [one, two] = [await newBoard(server.dana), await newBoard(server.dana)];
      const answers = await Promise.all([
        server.dana.call('updateBoard', { params: { board: one.name }, body: { task_prefix } }),
        there.call('updateBoard', { params: { board: two.name }, body: { task_prefix } }),
      ]);
      expect(answers.map(({ status, code }) => code ?? status).sort()).to.deep.equal([200, 'task_prefix_taken']);
    }
    await twin?.close();
  });
});
