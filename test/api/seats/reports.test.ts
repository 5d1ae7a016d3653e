import { expect } from 'chai';
import type { Member } from '../../../src/contract/types.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { endMember, newBrowser, putOnBoard } from '../../support/state.ts';

forEachDatabase('what a seat reports', (engine) => {
  let server: TestServer;
  let pam: Api;
  let board: string;
  let agent: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
    agent = await newAgent(pam, board);
  });
  after(() => server.stop());

  const report = (presence: string, more: Record<string, unknown> = {}, from: Api = agent) =>
    from.call('setPresence', { body: { presence, ...more } });
  const seen = (of: Agent = agent, reader: Api = server.dana): Promise<Member> =>
    reader.ok('getMember', { params: { board, member: of.memberId } });
  const presence = async () => {
    const { presence: now, presence_since, delivery } = await seen();
    return [now, presence_since, delivery];
  };
  const isoNow = async () => new Date(server.clock.now()).toISOString();

  it('is shown to everybody on the board: what it is, since when, and what it applies', async () => {
    expect(await presence()).to.deep.equal(['no_session', null, null]);
    const { status, body } = await report('working', { delivery: 'humans' });
    expect(status).to.equal(200);
    expect(body).to.deep.include({ board, agent: agent.name, member_id: agent.memberId, presence: 'working' });
    expect(await presence()).to.deep.equal(['working', body.presence_since, 'humans']);
    expect((await seen(agent, await newAgent(server.dana, board))).presence).to.equal('working');
    const { members } = await server.dana.ok('listMembers', { params: { board } });
    expect(members.map((member) => [member.kind, member.presence, member.delivery])).to.deep.equal([
      ['human', null, null],
      ['human', null, null],
      ['agent', 'working', 'humans'],
      ['agent', 'no_session', null],
    ]);
    for (const person of members.slice(0, 2)) {
      expect(person).to.include({ presence_since: null, delivery_mode: null, delivery_revision: null });
    }
  });

  it('only renews when it is said again, and begins anew when it changes or had run out', async () => {
    const first = (await report('working')).body.presence_since;
    server.clock.advance(60_000);
    expect((await report('working')).body.presence_since).to.equal(first);
    server.clock.advance(60_000);
    const changed = (await report('idle')).body.presence_since;
    expect(Date.parse(changed) - Date.parse(first)).to.be.within(120_000, 125_000);
    server.clock.advance(200_000);
    const again = (await report('idle')).body.presence_since;
    expect(Date.parse(again) - Date.parse(changed)).to.be.within(200_000, 205_000);
    const gone = (await report('no_session')).body.presence_since;
    server.clock.advance(500_000);
    expect(await presence()).to.deep.equal(['no_session', gone, null]);
    expect((await report('no_session')).body.presence_since).to.equal(gone);
  });

  it('runs out 180 seconds after its last report, and then counts from that report', async () => {
    await report('waiting', { delivery: 'all' });
    server.clock.advance(100_000);
    const last = server.clock.now();
    await report('waiting');
    server.clock.advance(178_000);
    expect((await presence())[0]).to.equal('waiting');
    server.clock.advance(2_000);
    const [now, since, delivery] = await presence();
    expect([now, delivery]).to.deep.equal(['no_session', 'all']);
    expect(Date.parse(String(since)) - last).to.be.within(-5_000, 5_000);
    await report('no_session');
    expect((await presence())[1]).to.equal(since);
  });

  it('keeps the mode it applies until another is reported, and knows the old name of `all`', async () => {
    await report('idle', { delivery: 'auto' });
    expect((await presence())[2]).to.equal('all');
    await report('working');
    expect((await presence())[2]).to.equal('all');
    await report('working', { delivery: 'off' });
    expect((await presence())[2]).to.equal('off');
  });

  it('outlives a restart of the server, with its time', async () => {
    const { presence_since } = (await report('working', { delivery: 'focused' })).body;
    server.clock.advance(100_000);
    await server.restart();
    expect(await presence()).to.deep.equal(['working', presence_since, 'focused']);
    server.clock.advance(81_000);
    expect(await presence()).to.deep.equal(['no_session', presence_since, 'focused']);
  });

  it('is no part of the record, and goes on while the board is archived', async () => {
    const { head_seq } = await server.dana.ok('getBoard', { params: { board } });
    await server.dana.ok('archiveBoard', { params: { board } });
    await report('working');
    await agent.ok('setLocation', { body: { harness: 'codex', session_id: 's', folder: '/x' } });
    await pam.ok('setDeliveryMode', { params: { board, member: agent.name }, body: { mode: 'off' } });
    expect((await server.dana.ok('getBoard', { params: { board } })).head_seq).to.equal(head_seq + 1);
  });

  it('ends with the seat: nobody is there, and where it was is forgotten', async () => {
    await report('working');
    await agent.ok('setLocation', { body: { harness: 'codex', session_id: 's', folder: '/x' } });
    await pam.ok('removeMember', { params: { board, member: agent.name } });
    const ended = await seen(agent, pam);
    expect(ended).to.include({ presence: 'no_session', status: 'removed' });
    expect(ended).not.to.have.property('location');
    expect((await report('working')).code).to.equal('agent_removed');
    const rows = await server.db.read((tx) =>
      tx.query<Record<string, unknown>>((db) => db('seat_reports').where('member_id', agent.memberId).select('*')),
    );
    expect(rows[0]).to.include({ location_folder: null, location_session: null, location_machine: null });
  });

  it('is for agents only, and refuses what is no report', async () => {
    for (const [name, body] of [
      ['setPresence', { presence: 'idle' }],
      ['setLocation', { harness: 'h', session_id: 's', folder: '/' }],
    ] as const) {
      expect(await pam.refused(name, { body })).to.equal('403 agent_token_required');
    }
    const bad = [{}, { presence: 'busy' }, { presence: 'idle', delivery: 'none' }, { presence: 'idle', extra: 1 }];
    for (const body of bad) expect(await agent.refused('setPresence', { body })).to.equal('400 invalid_request');
    const whole = { harness: 'h', session_id: 's', folder: '/' };
    const places = [
      { ...whole, harness: '' },
      { ...whole, harness: 'x'.repeat(41) },
      { ...whole, harness: 'h\n' },
      { ...whole, session_id: 'x'.repeat(513) },
      { ...whole, folder: 'x'.repeat(4_097) },
      { ...whole, machine: 'mine' },
      { harness: 'h', session_id: 's' },
    ];
    for (const body of places) expect(await agent.refused('setLocation', { body })).to.equal('400 invalid_request');
    await agent.ok('setLocation', {
      body: { harness: 'x'.repeat(40), session_id: 'x'.repeat(512), folder: 'x'.repeat(4_096) },
    });
  });

  it('of a place is for its person and their agents alone, not for owners or admins', async () => {
    const location = { harness: 'codex', session_id: 'abc', folder: '/home/pam/work' };
    const answer = await agent.ok('setLocation', { body: location });
    expect(answer).to.deep.equal({ ...location, machine: 'laptop', last_active: answer.last_active });
    expect(Date.parse(answer.last_active) - Date.parse(await isoNow())).to.be.within(-5_000, 5_000);
    const sibling = await newAgent(pam, board);
    for (const reader of [pam, agent, sibling, await newBrowser(server, pam)]) {
      expect((await seen(agent, reader)).location).to.deep.equal(answer);
      const { members } = await reader.ok('listMembers', { params: { board }, query: { kind: 'agent' } });
      expect(members[0]?.location).to.deep.equal(answer);
      expect((await reader.ok('listMyAgents')).agents.find(({ id }) => id === agent.memberId)?.location).to.deep.equal(
        answer,
      );
    }
    for (const reader of [server.dana, await newAgent(server.dana, board)]) {
      expect(await seen(agent, reader)).not.to.have.property('location');
      const { text } = await reader.call('listMembers', { params: { board } });
      expect(text).not.to.include('/home/pam');
    }
    const moved = await agent.ok('setLocation', { body: { ...location, folder: '/elsewhere' } });
    expect((await seen(agent, pam)).location).to.deep.equal(moved);
    server.clock.advance(30_000);
    await report('working');
    const active = Date.parse((await seen(agent, pam)).location?.last_active ?? '');
    expect(active - Date.parse(moved.last_active)).to.be.within(30_000, 35_000);
  });

  it('of a place keeps no secret', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const location = { harness: secret, session_id: 'abc', folder: `/home/pam/${secret}/work` };
    const answer = await agent.ok('setLocation', { body: location });
    expect(answer).to.include({
      harness: '[redacted:github_token]',
      session_id: 'abc',
      folder: '/home/pam/[redacted:github_token]/work',
    });
    expect((await seen(agent, pam)).location).to.deep.equal(answer);
  });

  it('lists a person’s own agents wherever they are, with their harness, page by page', async () => {
    const ina = await server.person(`ina-${board}`);
    const other = (await newBoard(ina, { visibility: 'private' })).name;
    await putOnBoard(server, board, ina);
    await server.dana.ok('updateBoard', { params: { board }, body: { policy: { show_harness: false } } });
    const agents = [
      await newAgent(ina, other, { harness: 'codex' }),
      await newAgent(ina, board, { harness: 'claude-code' }),
      await newAgent(ina, board),
    ];
    const ended = await newAgent(ina, board);
    await endMember(server, ended.memberId);
    await ina.ok('archiveBoard', { params: { board: other } });
    const list = async (reader: Api, query = {}) => reader.ok('listMyAgents', { query });
    for (const reader of [ina, agents[0] as Agent, agents[1] as Agent]) {
      const found = (await list(reader)).agents;
      expect(found.map(({ id, board: on, harness }) => [id, on, harness])).to.deep.equal([
        [agents[0]?.memberId, other, 'codex'],
        [agents[1]?.memberId, board, 'claude-code'],
        [agents[2]?.memberId, board, null],
      ]);
    }
    const page = await list(ina, { limit: 2 });
    expect([page.agents.length, page.next_after]).to.deep.equal([2, agents[1]?.memberId]);
    const rest = await list(ina, { limit: 2, after: page.next_after });
    expect([rest.agents.length, rest.next_after]).to.deep.equal([1, null]);
    for (const query of [{ limit: '0' }, { limit: '501' }, { after: 'x' }] as Record<string, string>[]) {
      expect(await ina.refused('listMyAgents', { query })).to.equal('400 invalid_request');
    }
    await ina.ok('deleteBoard', { params: { board: other } });
    expect((await list(ina)).agents).to.have.length(2);
    expect((await list(server.dana)).agents.map(({ owner_id }) => owner_id)).not.to.include(ina.personId);
  });

  it('lists a guest’s agents to a guest’s agent on its own board only', async () => {
    const gus = await server.person(`gus-${board}`, 'guest');
    const other = (await newBoard(server.dana)).name;
    const asMember = (role: string) =>
      server.db.write((tx) => tx.change((db) => db('people').where('id', gus.personId).update({ server_role: role })));
    for (const on of [board, other]) await putOnBoard(server, on, gus);
    // Codes bring guests' agents; here they join before their person becomes a guest.
    await asMember('member');
    const [here, there] = [await newAgent(gus, board), await newAgent(gus, other)];
    await asMember('guest');
    expect((await gus.ok('listMyAgents')).agents.map(({ id }) => id)).to.deep.equal([here.memberId, there.memberId]);
    expect((await here.ok('listMyAgents')).agents.map(({ id }) => id)).to.deep.equal([here.memberId]);
  });

  it('is told apart from the mode its person sets, which only they set', async () => {
    const mode = (wanted: string, from: Api = pam, member = agent.name, key?: string) =>
      from.call('setDeliveryMode', { params: { board, member }, body: { mode: wanted }, key });
    const told = async (...args: Parameters<typeof mode>) => {
      const { status, code } = await mode(...args);
      return code === undefined ? status : `${status} ${code}`;
    };
    expect(await seen()).to.include({ delivery_mode: 'focused', delivery_revision: 0, delivery: null });
    expect((await mode('focused')).body).to.deep.equal({
      board,
      agent: agent.name,
      mode: 'focused',
      revision: 0,
      changed: false,
    });
    expect((await mode('humans', pam, agent.memberId)).body).to.include({ revision: 1, changed: true });
    expect((await mode('humans')).body).to.include({ revision: 1, changed: false });
    expect((await mode('off', await newBrowser(server, pam), agent.name, 'once')).body).to.include({ revision: 2 });
    expect(await seen()).to.include({ delivery_mode: 'off', delivery_revision: 2, delivery: null });
    expect(await agent.ok('readInbox')).to.include({ delivery_mode: 'off', delivery_revision: 2 });
    const eve = await server.person(`eve-${board}`);
    expect(await told('all', server.dana)).to.equal('403 agent_owner_required');
    expect(await told('all', agent)).to.equal('403 human_token_required');
    expect(await told('all', eve)).to.equal('403 not_on_board');
    for (const nobody of ['pam', 'nobody', 'Not a name', 'mem_1']) {
      expect(await told('all', pam, nobody), nobody).to.equal('404 agent_not_found');
    }
    expect(await told('auto')).to.equal('400 invalid_request');
    const ended = await newAgent(pam, board);
    await endMember(server, ended.memberId);
    expect(await told('all', pam, ended.name)).to.equal('404 agent_not_found');
    expect((await post(pam, board, 'x')).seq).to.be.greaterThan(0);
  });

  it('is a guest’s own to set for their agents', async () => {
    const gus = await server.person(`gil-${board}`);
    await putOnBoard(server, board, gus);
    const own = await newAgent(gus, board);
    await server.db.write((tx) =>
      tx.change((db) => db('people').where('id', gus.personId).update({ server_role: 'guest' })),
    );
    const set = await gus.ok('setDeliveryMode', { params: { board, member: own.name }, body: { mode: 'all' } });
    expect(set).to.include({ mode: 'all', revision: 1 });
  });
});
