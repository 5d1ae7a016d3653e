/** A board is named by its id wherever it is named by its name, and no more is told to those who know the id alone. */
import { expect } from 'chai';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import type { Api, Call } from '../../support/api.ts';
import { newAgent, newBoard, newDelegation, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCall } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';

const inPath = (Object.keys(operations) as OperationName[]).filter((name) => operations[name].path.includes('{board}'));
/** An outside admin does these to a private board they are not on. */
const forAdmins: OperationName[] = ['archiveBoard', 'restoreBoard', 'deleteBoard', 'removeMember'];

forEachDatabase('the id of a board', (engine) => {
  let server: TestServer;
  let eve: Api;
  before(async () => {
    server = await startTestServer(engine);
    eve = await server.person('eve');
  });
  after(() => server.stop());

  /** A board with an agent, a message and a task, and whoever may call an operation on it. */
  async function stage(body: Record<string, unknown> = {}) {
    const board = await newBoard(server.dana, body);
    const agent = await newAgent(server.dana, board.name);
    const { id: message } = await post(server.dana, board.name, 'hi');
    return { board, agent, message };
  }
  type Stage = Awaited<ReturnType<typeof stage>>;

  const callerOf = (name: OperationName, { agent }: Stage): Api => {
    const { credentials } = operations[name] as { credentials: readonly string[] };
    return credentials.includes('PK') ? server.dana : agent;
  };
  const call = async (name: OperationName, on: Stage, ref: string, from = callerOf(name, on)) => {
    const { status, code, body } = await from.call(name, goodCall(name, { board: ref, message: on.message }));
    const told = (body as unknown as { board?: unknown } | null)?.board;
    return [status, code, typeof told === 'string' ? told : null];
  };

  it('stands in every path that a name stands in, with the same answer', async () => {
    for (const name of inPath) {
      const [one, other] = [await stage(), await stage()];
      const [status, code, told] = await call(name, one, one.board.name);
      const expected = [status, code, told === one.board.name ? other.board.name : told];
      expect(await call(name, other, other.board.id), name).to.deep.equal(expected);
    }
  });

  it('stands in every query and body that a name stands in', async () => {
    const { board, agent } = await stage();
    await server.dana.ok('createTask', { params: { board: board.name }, body: { title: 'a task' } });
    for (const from of [server.dana, agent]) {
      for (const name of ['search', 'listAllTasks', 'listAsks'] as const) {
        const ask = (ref: string): Call => ({ query: { ...(name === 'search' ? { q: 'hi' } : {}), board: ref } });
        const byName = await from.ok(name, ask(board.name));
        expect(await from.ok(name, ask(board.id)), name).to.deep.equal(byName);
      }
    }
    const byPerson = await server.dana.ok('joinBoard', { body: { board: board.id, role: 'member' } });
    expect(byPerson.board.name).to.equal(board.name);
    const machine = await newDelegation(server.dana);
    const seat = { board: board.id, session: 'codex:s1' };
    const bySession = await machine.ok('joinBoard', { body: { ...seat, role: 'member', harness: 'codex' } });
    expect(bySession.board.name).to.equal(board.name);
    const again = await machine.ok('joinBoard', { body: { ...seat, board: board.name } });
    expect([again.reused, again.agent.id]).to.deep.equal([true, bySession.agent.id]);
    const stream = await TestStream.open(agent, { board: board.id });
    const ready = await stream.frame((frame) => frame.event === 'ready');
    expect(ready.data).to.include({ board: board.name, board_id: board.id });
    stream.close();
  });

  it('shows nobody a board that they do not see by its name', async () => {
    const hidden = await stage({ visibility: 'private' });
    const elsewhere = await stage();
    const guest = await server.person('gus', 'guest');
    const admin = await server.person('ada', 'admin');
    const unknown = 'brd_01K5A0000000000000000000B1';
    for (const name of inPath) {
      const { credentials } = operations[name] as { credentials: readonly string[] };
      if (credentials.includes('PK')) {
        for (const from of [eve, guest, ...(forAdmins.includes(name) ? [] : [admin])])
          expect(await from.refused(name, goodCall(name, { board: hidden.board.id, message: hidden.message })), name)
            .to.equal(await from.refused(name, goodCall(name, { board: unknown, message: hidden.message })))
            .and.to.equal('404 board_not_found');
      }
      if (credentials.includes('AG'))
        expect((await call(name, hidden, hidden.board.id, elsewhere.agent)).slice(0, 2), name).to.deep.equal([
          404,
          'board_not_found',
        ]);
    }
    for (const ref of ['brd_', 'brd_01k5a0000000000000000000b1', `${hidden.board.id}0`, `mem_${unknown.slice(4)}`])
      expect(await server.dana.refused('getBoard', { params: { board: ref } }), ref).to.equal('404 board_not_found');
    await changeBoard(server, elsewhere.board.name, { lifecycle: 'deleted' });
    expect(await server.dana.refused('getBoard', { params: { board: elsewhere.board.id } })).to.equal(
      '404 board_not_found',
    );
  });

  it('of an open board lets people who are off it see and join it', async () => {
    const { board } = await stage();
    expect((await eve.ok('getBoard', { params: { board: board.id } })).name).to.equal(board.name);
    expect(await eve.refused('listMessages', { params: { board: board.id } })).to.equal('403 not_on_board');
    const { people } = await eve.ok('listBoardPeople', { params: { board: board.id } });
    expect(people).to.have.length(1);
    const added = await eve.ok('addBoardPerson', { params: { board: board.id }, body: { handle: 'eve' } });
    expect(added.board).to.equal(board.name);
  });
});
