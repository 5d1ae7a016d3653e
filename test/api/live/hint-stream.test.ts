import { expect } from 'chai';
import pg from 'pg';
import { hintFrames } from '../../../src/contract/nouns/record.ts';
import type { Allowed, ReadTx } from '../../../src/server/db/tx.ts';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, putOnBoard, revokeKey } from '../../support/state.ts';
import { type Frame, TestStream } from '../../support/stream.ts';

const isReady = (frame: Frame) => frame.event === 'ready';

forEachDatabase('a stream of hints', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const newPerson = () => server.person(`person-${++people}`);

  async function openFor(person: Api, query: Record<string, string> = {}): Promise<TestStream> {
    const stream = await TestStream.open(person, query);
    await stream.frame(isReady);
    return stream;
  }

  /** Holds the next read of a stream of hints after its snapshot was taken. */
  function holdNextRead(): { begun: Promise<void>; goOn(): void } {
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const plain = server.db.read;
    server.db.read = <T>(fn: (tx: ReadTx) => Promise<T>, allows?: Allowed): Promise<T> => {
      if (!new Error().stack?.includes('hint-stream.ts')) return plain.call(server.db, fn, allows) as Promise<T>;
      Reflect.deleteProperty(server.db, 'read');
      return server.db.read(async (tx) => {
        await tx.query((db) => db('people').select('id').limit(1));
        begun.resolve();
        await held.promise;
        return fn(tx);
      });
    };
    return { begun: begun.promise, goOn: held.resolve };
  }

  /** What was told about a board after `ready`. */
  const since = (stream: TestStream, name: string) =>
    stream.frames.slice(stream.frames.findIndex(isReady) + 1).filter((frame) => frame.event === name);

  it('opens with head and unread of every board the person is on, archived ones too, and then `ready`', async () => {
    const pam = await newPerson();
    const boards = [await newBoard(pam), await newBoard(pam, { visibility: 'private' })];
    const [first, second] = boards as [(typeof boards)[0], (typeof boards)[0]];
    await newBoard(server.dana);
    const agent = await newAgent(pam, first.name);
    await post(agent, first.name, 'unread');
    await changeBoard(server, second.name, { lifecycle: 'archived' });
    const stream = await openFor(pam);
    expect(stream.frames.at(-1)).to.deep.include({ event: 'ready', data: { boards: 2 } });
    expect(stream.named('head').map(({ data }) => data)).to.have.deep.members([
      { board: first.name, board_id: first.id, seq: 4 },
      { board: second.name, board_id: second.id, seq: 3 },
    ]);
    expect(stream.named('unread').map(({ data }) => data)).to.have.deep.members([
      { board: first.name, board_id: first.id, read_up_to: 2, unread: 1 },
      { board: second.name, board_id: second.id, read_up_to: 2, unread: 0 },
    ]);
    for (const { event, data, id } of stream.frames) {
      hintFrames.shape[event as keyof typeof hintFrames.shape].parse(data);
      expect(id).to.equal(undefined);
    }
    stream.close();
  });

  it('opens without looking through the agents of all boards for each board', async () => {
    const person = await newPerson();
    const boards = 20;
    for (let n = 0; n < boards; n++) await newAgent(person, (await newBoard(person)).name);
    let looks = 0;
    const counted = (row: object): object =>
      new Proxy(row, {
        get(target, name) {
          if (name === 'board_id') looks++;
          return Reflect.get(target, name) as unknown;
        },
      });
    const plain = server.db.read;
    server.db.read = <T>(fn: (tx: ReadTx) => Promise<T>, allows?: Allowed): Promise<T> =>
      plain.call(
        server.db,
        (tx) => {
          const query = tx.query.bind(tx);
          tx.query = async <R>(build: Parameters<typeof query>[0]) =>
            (await query<R & object>(build)).map((row) => ('line_kind' in row ? (counted(row) as R) : row));
          return fn(tx);
        },
        allows,
      ) as Promise<T>;
    try {
      (await openFor(person)).close();
    } finally {
      Reflect.deleteProperty(server.db, 'read');
    }
    expect(looks).to.equal(boards);
  });

  it('tells an allowance that changed while it was read', async () => {
    const pam = await newPerson();
    const { name } = await newBoard(pam);
    const { seq } = await post(await newAgent(pam, name), name, 'unread');
    const stream = await openFor(pam);
    const reading = holdNextRead();
    await pam.ok('ackBoard', { params: { board: name }, body: { up_to: seq } });
    await reading.begun;
    await pam.ok('setAllowance', { body: { categories: ['add_people'] } });
    reading.goOn();
    await stream.frame(({ event }) => event === 'allowance');
    stream.close();
  });

  if (engine === 'postgres') {
    it('tells what was committed although the answer to the commit was lost', async () => {
      const pam = await newPerson();
      const stream = await openFor(pam);
      const { query } = pg.Client.prototype;
      pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
        const answer = Reflect.apply(query, this, args) as Promise<unknown>;
        if ((args[0] as { text?: string }).text !== 'COMMIT') return answer;
        pg.Client.prototype.query = query;
        return answer.then(() => Promise.reject(new Error('Connection terminated unexpectedly')));
      } as never;
      const { code } = await pam.call('setAllowance', { body: { categories: ['add_people'] } });
      expect(code).to.equal('unavailable');
      expect((await pam.ok('getAllowance')).revision).to.equal(1);
      await stream.frame(({ event }) => event === 'allowance');
      stream.close();
    });
  }

  it('tells a message that was posted after its first read and before it followed the board', async () => {
    const pam = await newPerson();
    const board = await newBoard(pam);
    const agent = await newAgent(pam, board.name);
    const opening = holdNextRead();
    const stream = await TestStream.open(pam);
    await opening.begun;
    const early = await post(agent, board.name, 'while it opens');
    opening.goOn();
    await stream.frame(({ event, data }) => event === 'head' && data.seq === early.seq);
    await stream.frame(({ event, data }) => event === 'unread' && data.unread === 1);
    stream.close();
  });

  it('tells a message that was posted while a board was added to it', async () => {
    const pam = await newPerson();
    const stream = await openFor(pam);
    const board = await newBoard(server.dana);
    const adding = holdNextRead();
    await putOnBoard(server, board.name, pam);
    await adding.begun;
    const { seq } = await post(server.dana, board.name, 'while the board is added');
    adding.goOn();
    await stream.frame(({ event, data }) => event === 'head' && data.board_id === board.id && data.seq === seq);
    stream.close();
  });

  it('tells how much is unread as it is, where a read that began before a post ends after it', async () => {
    const pam = await newPerson();
    const board = await newBoard(pam);
    const agent = await newAgent(pam, board.name);
    const { seq } = await post(agent, board.name, 'read');
    const stream = await openFor(pam);
    const reading = holdNextRead();
    await pam.ok('ackBoard', { params: { board: board.name }, body: { up_to: seq } });
    await reading.begun;
    const { seq: head } = await post(agent, board.name, 'unread');
    await stream.frame(({ event, data }) => event === 'head' && data.seq === head);
    reading.goOn();
    await agent.ok('setPresence', { body: { presence: 'idle' } });
    await stream.frame(({ event }) => event === 'presence');
    expect(since(stream, 'unread').at(-1)?.data).to.include({ read_up_to: seq, unread: 1 });
    stream.close();
  });

  it('tells each head that moves, with the unread count, and never content', async () => {
    const pam = await newPerson();
    const board = await newBoard(pam);
    const agent = await newAgent(pam, board.name);
    const stream = await openFor(pam);
    for (const text of ['one', 'two', 'three']) {
      const { seq } = await post(agent, board.name, `the secret ${text}`);
      await stream.frame(({ event, data }) => event === 'head' && data.seq === seq);
    }
    await stream.frame(({ event, data }) => event === 'unread' && data.unread === 3);
    const heads = stream.named('head').map(({ data }) => data.seq);
    expect(heads).to.deep.equal([...heads].sort((a, b) => a - b));
    expect(JSON.stringify(stream.frames)).not.to.include('secret');
    const own = await post(pam, board.name, 'mine');
    await stream.frame(({ event, data }) => event === 'head' && data.seq === own.seq);
    expect(stream.named('unread').at(-1)?.data.unread).to.equal(3);
    stream.close();
  });

  it('tells every stream of a person the position one of them moved, and nobody else', async () => {
    const [pam, eve] = [await newPerson(), await newPerson()];
    const board = await newBoard(pam);
    await putOnBoard(server, board.name, eve);
    const { seq } = await post(eve, board.name, 'read me');
    const tabs = [await openFor(pam), await openFor(pam)];
    const other = await openFor(eve);
    await pam.ok('ackBoard', { params: { board: board.name }, body: { up_to: seq } });
    const data = { board: board.name, board_id: board.id, read_up_to: seq, unread: 0 };
    for (const tab of tabs) {
      await tab.until(() => since(tab, 'unread').length > 0);
      expect(since(tab, 'unread').map((frame) => frame.data)).to.deep.equal([data]);
    }
    await pam.ok('ackBoard', { params: { board: board.name }, body: { up_to: 1 } });
    const next = await post(pam, board.name, 'after');
    await other.frame(({ event, data: shown }) => event === 'head' && shown.seq === next.seq);
    expect(since(other, 'unread').every((frame) => frame.data.read_up_to !== seq)).to.equal(true);
    expect(since(tabs[0] as TestStream, 'unread')).to.have.length(1);
    for (const stream of [...tabs, other]) stream.close();
  });

  it('tells the position of an own agent once for each move', async () => {
    const [pam, eve] = [await newPerson(), await newPerson()];
    const board = await newBoard(pam);
    await putOnBoard(server, board.name, eve);
    const agent = await newAgent(pam, board.name);
    await newAgent(eve, board.name);
    const { seq } = await post(pam, board.name, 'x');
    const [mine, hers] = [await openFor(pam), await openFor(eve)];
    for (const upTo of [seq, 1, seq]) await agent.ok('ackInbox', { body: { up_to: upTo } });
    expect(await agent.refused('ackInbox', { body: { up_to: seq + 1 } })).to.equal('422 ack_out_of_range');
    // What comes within 20 ms is read once.
    server.clock.advance(20);
    await mine.frame(({ event }) => event === 'read');
    const last = await post(pam, board.name, 'y');
    for (const stream of [mine, hers])
      await stream.frame(({ event, data }) => event === 'head' && data.seq === last.seq);
    expect(mine.named('read').map(({ data }) => data)).to.deep.equal([
      { board: board.name, board_id: board.id, agent: agent.name, member_id: agent.memberId, read_up_to: seq },
    ]);
    expect(hers.named('read')).to.deep.equal([]);
    for (const stream of [mine, hers]) stream.close();
  });

  it('shows a board the person comes onto, and tells by its id alone when it is gone again', async () => {
    const pam = await newPerson();
    const [kept, board] = [await newBoard(pam), await newBoard(server.dana, { visibility: 'private' })];
    const stream = await openFor(pam);
    await putOnBoard(server, board.name, pam);
    await stream.frame(({ event, data }) => event === 'head' && data.board_id === board.id);
    await stream.frame(({ event, data }) => event === 'unread' && data.board_id === board.id);
    await endMember(server, await memberIdOf(server, board.name, pam));
    const gone = await stream.frame(({ event }) => event === 'board_unavailable');
    expect(gone.data).to.deep.equal({ board_id: board.id });
    const hidden = await post(server.dana, board.name, 'not for pam');
    const { seq } = await post(pam, kept.name, 'goes on');
    await stream.frame(({ event, data }) => event === 'head' && data.board_id === kept.id && data.seq === seq);
    expect(stream.named('head').some(({ data }) => data.seq === hidden.seq && data.board_id === board.id)).to.equal(
      false,
    );
    // Of a board that this stream never showed it tells neither that it is there nor that it went.
    const unseen = await newBoard(server.dana, { visibility: 'private' });
    await server.dana.ok('archiveBoard', { params: { board: unseen.name } });
    await server.dana.ok('deleteBoard', { params: { board: unseen.name } });
    await putOnBoard(server, board.name, pam);
    const back = await stream.frame(
      ({ event, data }) => event === 'head' && data.board_id === board.id && data.seq > hidden.seq,
    );
    expect(back.data.board).to.equal(board.name);
    expect(stream.named('board_unavailable')).to.have.length(1);
    expect(JSON.stringify(stream.frames)).not.to.include(unseen.id);
    stream.close();
  });

  it('says that the set of boards changed when one is created, once a second at most', async () => {
    const pam = await newPerson();
    const stream = await openFor(pam);
    for (let n = 0; n < 5; n++) await newBoard(server.dana);
    await stream.until(() => stream.named('boards').length > 0);
    expect(stream.named('boards')).to.have.length(1);
    server.clock.advance(1_000);
    await stream.until(() => stream.named('boards').length === 2);
    stream.close();
  });

  it('does not say that the set of boards changed when it opens, or when a position moves', async () => {
    const pam = await newPerson();
    const board = await newBoard(pam);
    const agent = await newAgent(pam, board.name);
    const stream = await openFor(pam);
    for (let n = 0; n < 3; n++) {
      const { seq } = await post(pam, board.name, 'read this');
      await agent.ok('ackInbox', { body: { up_to: seq } });
      await stream.frame(({ event, data }) => event === 'read' && data.read_up_to === seq);
      server.clock.advance(1_000);
    }
    await post(pam, board.name, 'the last');
    await pam.ok('listBoards', {});
    expect(stream.named('boards')).to.deep.equal([]);
    await pam.ok('archiveBoard', { params: { board: board.name } });
    await stream.until(() => stream.named('boards').length > 0);
    stream.close();
  });

  it('tells only of the boards and the frames asked for, but always of ready, loss and end', async () => {
    const pam = await newPerson();
    const [one, two] = [await newBoard(pam), await newBoard(pam)];
    const stream = await openFor(pam, { boards: `${one.name},never-there`, events: 'head' });
    expect(stream.frames.map(({ event }) => event)).to.deep.equal(['head', 'ready']);
    const agent = await newAgent(pam, one.name);
    await post(pam, two.name, 'x');
    const { seq } = await post(agent, one.name, 'y');
    await stream.frame(({ event, data }) => event === 'head' && data.seq === seq);
    expect(new Set(stream.named('head').map(({ data }) => data.board))).to.deep.equal(new Set([one.name]));
    expect(stream.named('unread')).to.deep.equal([]);
    await endMember(server, await memberIdOf(server, one.name, pam));
    await stream.frame(({ event }) => event === 'board_unavailable');
    await revokeKey(server, pam);
    await server.clock.within(1_000, () => stream.until(() => stream.ended));
    expect(stream.frames.at(-1)).to.deep.include({ event: 'end', data: { reason: 'credential_ended' } });
  });

  it('refuses a frame name that does not exist and more than 50 boards', async () => {
    for (const query of ['events=head,nonsense', `boards=${Array(51).fill('a').join()}`, 'after=x']) {
      const response = await fetch(`${server.url}/v1/stream?${query}`, { headers: server.dana.headers({}) });
      await response.body?.cancel();
      expect(response.status, query).to.equal(400);
    }
  });

  it('ends with the key and at its expiry', async () => {
    const kim = await server.person('kim', 'member', { expiresIn: 3_600 });
    const stream = await openFor(kim);
    server.clock.advance(3_400_000);
    await newBoard(kim);
    await stream.frame(({ event }) => event === 'head');
    server.clock.advance(200_000);
    await server.clock.within(1_000, () => stream.until(() => stream.ended));
    expect(stream.frames.at(-1)?.data).to.deep.equal({ reason: 'credential_ended' });
  });
});
