import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, newBrowser, newDelegation, putOnBoard } from '../../support/state.ts';

type Query = Record<string, string | number | boolean>;

forEachDatabase('the list of boards', (engine) => {
  let server: TestServer;
  let pam: Api;
  let gus: Api;
  let agent: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    gus = await server.person('gus', 'guest');
    const { dana } = server;
    for (const name of ['pam-open', 'pam-old']) await newBoard(pam, { name });
    await newBoard(pam, { name: 'pam-private', visibility: 'private' });
    for (const name of ['zz-b', 'zza', 'zz-c', 'zz9', 'dana-old', 'dana-gone']) await newBoard(dana, { name });
    await newBoard(dana, { name: 'dana-private', visibility: 'private' });
    for (const name of ['pam-old', 'dana-old']) await changeBoard(server, name, { lifecycle: 'archived' });
    await changeBoard(server, 'dana-gone', { lifecycle: 'deleted' });
    await putOnBoard(server, 'zza', gus);
    agent = await newAgent(pam, 'pam-private', { name: 'helper' });
  });
  after(() => server.stop());

  const list = (reader: Api, query: Query = {}) => reader.ok('listBoards', { query });
  const names = async (reader: Api, query: Query = {}) => (await list(reader, query)).boards.map(({ name }) => name);

  it('holds the boards a person is on; with `all` the open ones too, marked', async () => {
    expect(await names(pam)).to.deep.equal(['pam-open', 'pam-private']);
    const all = (await list(pam, { all: true })).boards;
    expect(all.map(({ name }) => name)).to.deep.equal(['pam-open', 'pam-private', 'zz-b', 'zz-c', 'zz9', 'zza']);
    expect(all.filter((board) => board.on_board).map(({ name }) => name)).to.deep.equal(['pam-open', 'pam-private']);
    for (const board of all) {
      const own = ['agent_count', 'read_up_to', 'unread', 'needs_reply'].filter((field) => field in board);
      expect(own, board.name).to.have.length(board.on_board ? 4 : 0);
    }
  });

  it('is of active boards, of archived ones or of both, and counts the archived', async () => {
    expect(await names(pam, { lifecycle: 'archived' })).to.deep.equal(['pam-old']);
    expect(await names(pam, { lifecycle: 'all' })).to.deep.equal(['pam-old', 'pam-open', 'pam-private']);
    for (const lifecycle of ['active', 'archived', 'all'])
      expect((await list(pam, { lifecycle })).archived_count).to.equal(1);
    expect((await list(pam, { all: true })).archived_count).to.equal(2);
    expect(await pam.refused('listBoards', { query: { lifecycle: 'deleted' } })).to.equal('400 invalid_request');
  });

  it('holds for a guest the boards they are on, and for an agent its own, whatever is asked', async () => {
    for (const query of [{}, { all: true, lifecycle: 'all' }] as Query[]) {
      expect(await names(gus, query)).to.deep.equal(['zza']);
      expect(await names(agent, query)).to.deep.equal(['pam-private']);
    }
  });

  it('shows an admin private boards by id alone, and only with `all`', async () => {
    expect(await list(server.dana)).not.to.have.property('hidden_boards');
    const { hidden_boards, boards } = await list(server.dana, { all: true });
    expect(hidden_boards).to.have.length(1);
    const [hidden] = hidden_boards ?? [];
    expect(hidden).to.include({ visibility: 'private', lifecycle: 'active', people: 1, can_archive: true });
    expect(hidden?.created_by).to.deep.equal({ id: pam.personId, handle: 'pam' });
    expect(JSON.stringify(hidden_boards)).not.to.include('pam-private');
    expect(boards.map(({ name }) => name)).not.to.include('pam-private');
    expect((await list(pam, { all: true })).hidden_boards).to.deep.equal([]);
    expect(await server.dana.refused('getBoard', { params: { board: hidden?.id ?? '' } })).to.equal(
      '404 board_not_found',
    );
  });

  it('is paged by name in one order on every database', async () => {
    const whole = await names(server.dana, { all: true, lifecycle: 'all' });
    expect(whole).to.deep.equal([...whole].sort());
    const seen: string[] = [];
    const follow = async (after?: string): Promise<void> => {
      const page = await list(server.dana, { all: true, lifecycle: 'all', limit: 2, ...(after ? { after } : {}) });
      seen.push(...page.boards.map(({ name }) => name));
      if (page.next_after !== null) await follow(page.next_after);
    };
    await follow();
    expect(seen).to.deep.equal(whole);
    for (const query of [{ limit: '0' }, { limit: '501' }, { after: 'Not A Name' }, { all: 'yes' }] as Query[]) {
      expect(await pam.refused('listBoards', { query }), JSON.stringify(query)).to.equal('400 invalid_request');
    }
  });

  it('pages the hidden boards by their ids', async () => {
    for (const name of ['pam-p2', 'pam-p3']) await newBoard(pam, { name, visibility: 'private' });
    const first = await list(server.dana, { all: true, limit: 2 });
    expect(first.hidden_boards).to.have.length(2);
    const second = await list(server.dana, { all: true, limit: 2, hidden_after: first.next_hidden_after ?? '' });
    const ids = [...(first.hidden_boards ?? []), ...(second.hidden_boards ?? [])].map(({ id }) => id);
    expect(ids).to.have.length(3);
    expect(ids).to.deep.equal([...ids].sort());
    expect(second.next_hidden_after).to.equal(null);
  });

  it('counts the hidden boards of the lifecycle that is asked for only', async () => {
    const shelved = await newBoard(pam, { name: 'pam-shelved', visibility: 'private' });
    await changeBoard(server, shelved.name, { lifecycle: 'archived' });
    const hidden = async (query: Query) =>
      ((await list(server.dana, { all: true, ...query })).hidden_boards ?? []).map(({ id, lifecycle }) => ({
        id,
        lifecycle,
      }));
    expect(await hidden({ lifecycle: 'archived' })).to.deep.equal([{ id: shelved.id, lifecycle: 'archived' }]);
    const active = await hidden({});
    expect(active.map(({ id }) => id)).not.to.include(shelved.id);
    expect(new Set(active.map(({ lifecycle }) => lifecycle))).to.deep.equal(new Set(['active']));
    expect(await hidden({ lifecycle: 'all' })).to.have.length(active.length + 1);
    const first = await list(server.dana, { all: true, limit: 1, lifecycle: 'archived' });
    expect([first.hidden_boards?.length, first.next_hidden_after]).to.deep.equal([1, null]);
  });

  it('shows each board as it is shown alone', async () => {
    await post(pam, 'pam-open', 'x');
    for (const reader of [pam, agent, server.dana]) {
      for (const board of (await list(reader, { all: true })).boards) {
        expect(await reader.ok('getBoard', { params: { board: board.name } })).to.deep.equal(board);
      }
    }
  });

  it('says what this credential could do to the lifecycle now', async () => {
    const rights = async (reader: Api, board: string) => {
      const { can_archive, can_restore, can_delete } = await reader.ok('getBoard', { params: { board } });
      return [can_archive, can_restore, can_delete];
    };
    expect(await rights(pam, 'pam-open')).to.deep.equal([true, false, false]);
    expect(await rights(pam, 'pam-old')).to.deep.equal([false, true, true]);
    expect(await rights(pam, 'zza')).to.deep.equal([false, false, false]);
    expect(await rights(server.dana, 'pam-open')).to.deep.equal([true, false, false]);
    expect(await rights(gus, 'zza')).to.deep.equal([false, false, false]);
    expect(await rights(agent, 'pam-private')).to.deep.equal([true, false, false]);
    const board = (await newBoard(pam)).name;
    await endMember(server, await memberIdOf(server, board, pam), 'left');
    expect(await rights(pam, board)).to.deep.equal([false, false, false]);
  });

  it('says who brought somebody onto a board, until they did something there', async () => {
    const sam = await server.person('sam');
    const { name: handle } = await server.dana.ok('getMe');
    const board = await newBoard(server.dana);
    const params = { board: board.name };
    const added = async (reader: Api = sam) => {
      const { boards } = await list(reader);
      return boards.find(({ id }) => id === board.id)?.added;
    };
    const addSam = (from: Api = server.dana) => from.ok('addBoardPerson', { params, body: { handle: 'sam' } });
    await addSam();
    const { events } = await server.dana.ok('listEvents', { params, query: { newest: true, limit: 1 } });
    const [event] = events;
    expect(event?.actor.name).to.equal(handle);
    const told = { seq: event?.seq, at: event?.at, by: event?.actor };
    for (const reader of [sam, await newBrowser(server, sam), await newDelegation(server, sam)]) {
      expect(await added(reader)).to.deep.equal(told);
    }
    expect(await added(server.dana)).to.equal(undefined);
    expect(await sam.ok('getBoard', { params })).not.to.have.property('added');
    await post(server.dana, board.name, 'hello');
    expect(await added()).to.deep.equal(told);
    const { head_seq } = await server.dana.ok('getBoard', { params });
    await sam.ok('ackBoard', { params, body: { up_to: head_seq } });
    expect(await added()).to.equal(undefined);
    expect((await server.dana.ok('getBoard', { params })).head_seq).to.equal(head_seq);

    await sam.ok('leaveBoard', { params });
    await addSam();
    expect((await added())?.seq).to.equal(head_seq + 2);
    const agent = await newAgent(sam, board.name);
    expect(await added()).to.equal(undefined);
    await agent.ok('leaveSeat');
    expect(await added()).to.equal(undefined);

    await sam.ok('leaveBoard', { params });
    await addSam(sam);
    expect(await added()).to.equal(undefined);
    // Somebody else's addition, at the number up to which one has read, is not one's own.
    await server.person('tim');
    await server.dana.ok('addBoardPerson', { params, body: { handle: 'tim' } });
    const head = (await server.dana.ok('getBoard', { params })).head_seq;
    await sam.ok('ackBoard', { params, body: { up_to: head } });
    expect(await added()).to.equal(undefined);
  });

  it('counts messages by the day on the boards one is on, when asked for', async () => {
    const board = await newBoard(server.dana);
    const idle = await newBoard(server.dana);
    const own = await newAgent(server.dana, board.name);
    const activity = async (days: number, reader: Api = server.dana) => {
      const { boards } = await list(reader, { activity: days, all: true });
      return new Map(boards.map(({ id, activity: counts }) => [id, counts]));
    };
    const say = async (count: number) => {
      for (let n = 0; n < count; n++) await post(own, board.name, `${n}`);
    };
    // From the middle of a day, so that none begins while it is counted.
    server.clock.advance(86_400_000 - (server.clock.now() % 86_400_000) + 40_000_000);
    await say(2);
    server.clock.advance(86_400_000);
    await say(3);
    server.clock.advance(2 * 86_400_000);
    expect((await activity(5)).get(board.id)).to.deep.equal([0, 2, 3, 0, 0]);
    await say(1);
    expect((await activity(5)).get(board.id)).to.deep.equal([0, 2, 3, 0, 1]);
    expect((await activity(3)).get(board.id)).to.deep.equal([3, 0, 1]);
    expect((await activity(1)).get(board.id)).to.deep.equal([1]);
    expect((await activity(30)).get(board.id)).to.have.length(30);
    expect((await activity(2)).get(idle.id)).to.deep.equal([0, 0]);
    expect((await activity(0)).get(board.id)).to.equal(undefined);
    expect((await activity(5, pam)).get(board.id)).to.equal(undefined);
    expect((await activity(5, own)).get(board.id)).to.equal(undefined);
    for (const days of [-1, 31, 'x']) {
      expect(await pam.refused('listBoards', { query: { activity: days } })).to.equal('400 invalid_request');
    }
  });
});
