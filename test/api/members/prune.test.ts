import { expect } from 'chai';
import { type BoardRow, lockBoardById } from '../../../src/server/boards/boards.store.ts';
import { setLifecycle } from '../../../src/server/boards/set-lifecycle.steps.ts';
import type { Presence } from '../../../src/server/seats/presence.rules.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { codeOf, newCode, reports } from '../../support/endings.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, changeRole, memberIdOf, newBrowser, newDelegation, putOnBoard } from '../../support/state.ts';
import { until } from '../../support/until.ts';

const HOUR = 3600;

forEachDatabase('pruning', (engine) => {
  let server: TestServer;
  let pat: Api;
  let adm: Api;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  beforeEach(async () => {
    pat = await server.person(`pat-${++people}`);
    adm = await server.person(`adm-${people}`, 'admin');
  });
  after(() => server.stop());

  const prune = (api: Api, body: Record<string, unknown>, key?: string) =>
    api.call('pruneAgents', { body: { disconnected_for: HOUR, ...body }, key });
  const said = ({ status, code }: { status: number; code: string | undefined }) => `${status} ${code ?? 'ok'}`;
  const ids = (list: readonly { id: string }[]) => list.map((one) => one.id);
  const seat = async (owner: Api, board: string, presence: Presence, ago: number): Promise<Agent> => {
    const agent = await newAgent(owner, board);
    await reports(server, agent, { presence, ago });
    return agent;
  };

  it('covers own agents that no session was behind for long, longest first, and leaves the others alone', async () => {
    const { name: board } = await newBoard(pat);
    await putOnBoard(server, board, adm);
    const long = await seat(pat, board, 'no_session', 3 * HOUR);
    const ranOut = await seat(pat, board, 'working', 2 * HOUR);
    const exactly = await seat(pat, board, 'waiting', HOUR + 1);
    const recent = await seat(pat, board, 'idle', HOUR - 60);
    const working = await seat(pat, board, 'working', 10);
    await newAgent(pat, board);
    await seat(adm, board, 'no_session', 3 * HOUR);

    const dry = (await prune(pat, { dry_run: true })).body;
    expect(dry).to.deep.include({ disconnected_for: HOUR, all: false, dry_run: true, kept: [] });
    expect(ids(dry.agents)).to.deep.equal(ids([long, ranOut, exactly].map((agent) => ({ id: agent.memberId }))));
    const { board_id } = (await pat.ok('getMember', { params: { board, member: long.memberId } })) as {
      board_id: string;
    };
    expect(dry.agents[0]).to.include({ name: long.name, board, board_id, owner_id: pat.personId });
    for (const agent of [long, ranOut]) await agent.ok('getMe');

    const asked = [long, recent, working].map((agent) => agent.memberId);
    const { status, body } = await prune(pat, { agents: asked });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      disconnected_for: HOUR,
      all: false,
      dry_run: false,
      agents: dry.agents.slice(0, 1),
      kept: [recent.memberId, working.memberId],
    });
    expect(await long.refused('getMe')).to.equal('403 agent_removed');
    for (const agent of [ranOut, recent, working]) await agent.ok('getMe');
  });

  it('counts a presence that ran out from its last report, and starts again with the next one', async () => {
    const { name: board } = await newBoard(pat);
    const [silent, said_] = [await newAgent(pat, board), await newAgent(pat, board)];
    for (const agent of [silent, said_]) await agent.ok('setPresence', { body: { presence: 'working' } });
    server.clock.advance(181_000);
    await said_.ok('setPresence', { body: { presence: 'no_session' } });
    const found = async () => ids((await prune(pat, { dry_run: true })).body.agents);
    server.clock.advance(HOUR * 1000 - 182_000);
    expect(await found()).to.deep.equal([]);
    server.clock.advance(2_000);
    expect(await found()).to.include(silent.memberId);
    server.clock.advance(181_000);
    expect(await found()).to.have.members([silent.memberId, said_.memberId]);
    await silent.ok('setPresence', { body: { presence: 'idle' } });
    expect((await prune(pat, { agents: [silent.memberId] })).body.kept).to.deep.equal([silent.memberId]);
  });

  it('records each removal with how long nobody was there, and what follows from it', async () => {
    const { name: board } = await newBoard(pat);
    const agents = [await seat(pat, board, 'no_session', 3 * HOUR), await seat(pat, board, 'working', 2 * HOUR)];
    const code = await newCode(server, board, agents[0]?.memberId ?? '');
    const { body } = await prune(pat, { agents: agents.map((agent) => agent.memberId) });
    const { events } = await pat.ok('listEvents', { params: { board }, query: { newest: true, limit: 3 } });
    expect(events.map((event) => event.type)).to.deep.equal(['agent.removed', 'joincode.revoked', 'agent.removed']);
    const me = await pat.ok('getMe');
    for (const [n, event] of [events[0], events[2]].entries()) {
      expect(event?.data).to.deep.equal({
        member_id: agents[n]?.memberId,
        name: agents[n]?.name,
        person_id: me.id,
        owner: me.name,
        removed_by: 'person',
        pruned: true,
        disconnected_since: body.agents[n]?.disconnected_since,
      });
      expect(event?.actor.member_id).to.equal(await memberIdOf(server, board, pat));
    }
    expect((await codeOf(server, code))['revoked_at']).to.be.a('number');
  });

  it("asks again in the write: one that came back, ended, is unknown or not the caller's is kept", async () => {
    const { name: board } = await newBoard(pat);
    await putOnBoard(server, board, adm);
    const [gone, back] = [await seat(pat, board, 'idle', 2 * HOUR), await seat(pat, board, 'idle', 2 * HOUR)];
    const ended = await seat(pat, board, 'idle', 2 * HOUR);
    const foreign = await seat(adm, board, 'idle', 2 * HOUR);
    await ended.ok('leaveSeat');
    await reports(server, back, { presence: 'working', ago: 5 });
    const unknown = 'mem_01K5A0000000000000000000M1';
    const agents = [back.memberId, ended.memberId, foreign.memberId, unknown, gone.memberId, gone.memberId];
    const { body } = await prune(pat, { agents });
    expect(ids(body.agents)).to.deep.equal([gone.memberId]);
    expect(body.kept).to.deep.equal(agents.slice(0, 4));
    expect((await prune(pat, { agents: [gone.memberId] })).body).to.deep.include({ agents: [], kept: [gone.memberId] });
  });

  it('of all agents is for server admins, and names nothing of a private board they are not on', async () => {
    const [open, hidden] = [await newBoard(pat), await newBoard(pat, { visibility: 'private' })];
    const gone = await newBoard(pat);
    await putOnBoard(server, open.name, adm);
    const theirs = await seat(pat, open.name, 'idle', 5 * HOUR);
    const own = await seat(adm, open.name, 'idle', 4 * HOUR);
    const secret = await seat(pat, hidden.name, 'idle', 3 * HOUR);
    const deleted = await seat(pat, gone.name, 'idle', 3 * HOUR);
    await changeBoard(server, hidden.name, { lifecycle: 'archived' });
    await changeBoard(server, gone.name, { lifecycle: 'deleted' });
    expect(said(await prune(pat, { all: true, dry_run: true }))).to.equal('403 server_admin_required');
    const named = [theirs, own, secret, deleted].map((agent) => agent.memberId);
    expect(ids((await prune(adm, { all: true, dry_run: true })).body.agents)).to.include.members(named.slice(0, 3));
    expect(ids((await prune(adm, { dry_run: true })).body.agents)).to.deep.equal([own.memberId]);

    const { text, body } = await prune(adm, { all: true, agents: named }, 'all');
    expect(ids(body.agents)).to.deep.equal(named.slice(0, 3));
    expect(body.kept).to.deep.equal([deleted.memberId]);
    expect(body.agents[2]).to.include({ name: null, board: null, board_id: hidden.id, owner_id: pat.personId });
    expect(text).not.to.include(hidden.name);
    const by = await Promise.all(
      [theirs, own, secret].map(async (agent) => {
        const told = (await agent.call('getMe')).body as unknown as { error: { details: { removed_by: string } } };
        return told.error.details.removed_by;
      }),
    );
    expect(by).to.deep.equal(['admin', 'person', 'admin']);
    const [event] = (await pat.ok('listEvents', { params: { board: hidden.name }, query: { newest: true, limit: 1 } }))
      .events;
    expect(event?.actor).to.include({ member_id: null, name: (await adm.ok('getMe')).name });

    expect((await prune(adm, { all: true, agents: named }, 'all')).replayed).to.equal(true);
    await changeRole(server, adm, 'member');
    expect(said(await prune(adm, { all: true, agents: named }, 'all'))).to.equal('403 server_admin_required');
    await changeRole(server, adm, 'admin');
    await changeBoard(server, open.name, { lifecycle: 'deleted' });
    expect(said(await prune(adm, { all: true, agents: named }, 'all'))).to.equal('404 board_not_found');
  });

  // On SQLite one write runs at a time.
  if (engine === 'postgres') {
    it('keeps the agents of a board that is deleted before its row is free', async () => {
      const { id, name } = await newBoard(pat);
      const agent = await seat(pat, name, 'idle', 2 * HOUR);
      await changeBoard(server, name, { lifecycle: 'archived' });
      const [has, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const deleting = server.db.write(async (tx) => {
        const board = (await lockBoardById(tx, id)) as BoardRow;
        const actor = { kind: 'human', member_id: null, name: 'adm', owner: null } as const;
        await setLifecycle({ tx, board, actor }, 'deleted', adm.personId ?? '');
        has.resolve();
        await ends.promise;
      });
      await has.promise;
      const pruning = prune(pat, { agents: [agent.memberId] }, 'late');
      const waits = () =>
        server.db.read((tx) => tx.query((db) => db('pg_locks').where('granted', false).select('pid')));
      await until(async () => (await waits()).length > 0, 'it waits for the board');
      ends.resolve();
      await deleting;
      expect((await pruning).body).to.deep.include({ agents: [], kept: [agent.memberId] });
      expect((await prune(pat, { agents: [agent.memberId] }, 'late')).replayed).to.equal(true);
      const [last] = await server.db.read((tx) =>
        tx.query<{ type: string }>((db) => db('events').where('board_id', id).orderBy('seq', 'desc').select('type')),
      );
      expect(last?.type).to.equal('board.deleted');
    });
  }

  it('that is only tried changes nothing and is not kept', async () => {
    const { name: board } = await newBoard(pat);
    const agent = await seat(pat, board, 'idle', 2 * HOUR);
    const first = await prune(pat, { dry_run: true }, 'try');
    const second = await seat(pat, board, 'idle', 3 * HOUR);
    const again = await prune(pat, { dry_run: true }, 'try');
    expect([first.replayed, again.replayed]).to.deep.equal([false, false]);
    expect(ids(first.body.agents)).to.deep.equal([agent.memberId]);
    expect(ids(again.body.agents)).to.deep.equal([second.memberId, agent.memberId]);
    const only = await prune(pat, { dry_run: true, agents: [agent.memberId, 'mem_01K5A0000000000000000000M1'] });
    expect(ids(only.body.agents)).to.deep.equal([agent.memberId]);
    expect(only.body.kept).to.deep.equal(['mem_01K5A0000000000000000000M1']);
  });

  it('names its agents, waits an hour at least, and is for people', async () => {
    expect(said(await prune(pat, {}))).to.equal('422 invalid_request');
    expect(said(await prune(pat, { disconnected_for: HOUR - 1, dry_run: true }))).to.equal('400 invalid_request');
    expect(said(await prune(pat, { agents: [] }))).to.equal('400 invalid_request');
    const many = Array.from(
      { length: 501 },
      (_unused, n) => `mem_01K5A000000000000000000${String(n).padStart(3, '0')}`,
    );
    expect(said(await prune(pat, { agents: many }))).to.equal('400 invalid_request');
    expect(said(await prune(pat, { agents: many.slice(1) }))).to.equal('200 ok');
    const { name: board } = await newBoard(pat);
    const agent = await newAgent(pat, board);
    expect(said(await prune(agent, { dry_run: true }))).to.equal('403 human_token_required');
    expect(said(await prune(await newDelegation(server, pat), { dry_run: true }))).to.equal('403 forbidden');
    expect(said(await prune(await newBrowser(server, pat), { dry_run: true }))).to.equal('200 ok');
  });

  it('lists at most 500 at once, and says that there are more', async () => {
    const { name: board } = await newBoard(pat);
    const agent = await seat(pat, board, 'idle', 2 * HOUR);
    await server.db.write(async (tx) => {
      const rows = (table: string, id: string) =>
        tx.query<Record<string, unknown>>((db) => db(table).where(id, agent.memberId).select('*'));
      const [[member], [report]] = [await rows('members', 'id'), await rows('seat_reports', 'member_id')];
      for (let n = 0; n < 500; n++) {
        const id = `mem_01K5B000000000000000000${String(n).padStart(3, '0')}`.replace('B', people % 2 ? 'B' : 'C');
        await tx.change((db) => db('members').insert({ ...member, id, name: `copy-${n}`, token_digest: null }));
        await tx.change((db) => db('seat_reports').insert({ ...report, member_id: id }));
      }
    });
    const { agents, more } = (await prune(pat, { dry_run: true })).body;
    expect(agents).to.have.length(500);
    expect(more).to.equal(true);
    const { body } = await prune(pat, { agents: ids(agents) });
    expect(body.agents).to.have.length(500);
    const rest = (await prune(pat, { dry_run: true })).body;
    expect(rest.agents).to.have.length(1);
    expect(rest).not.to.have.property('more');
  });
});
