import { expect } from 'chai';
import { hintFrames } from '../../../src/contract/nouns/record.ts';
import { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { holdNextRead } from '../../support/hold-read.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { type Frame, TestStream } from '../../support/stream.ts';

forEachDatabase('who is there, on streams of hints', (engine) => {
  let server: TestServer;
  let pam: Api;
  let eve: Api;
  let board: string;
  let boardId: string;
  let agent: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    eve = await server.person('eve');
  });
  beforeEach(async () => {
    const made = await newBoard(server.dana);
    [board, boardId] = [made.name, made.id];
    await putOnBoard(server, board, pam);
    agent = await newAgent(pam, board);
  });
  after(() => server.stop());

  async function open(api: Api, query: Record<string, string> = {}): Promise<TestStream> {
    const stream = await TestStream.open(api, query);
    await stream.frame(({ event }) => event === 'ready');
    return stream;
  }
  const report = (presence: string, delivery?: string) =>
    agent.ok('setPresence', { body: { presence, ...(delivery === undefined ? {} : { delivery }) } });
  /** What was told about the board of this test. */
  const told = (stream: TestStream) =>
    stream
      .named('presence')
      .map(({ data }) => data)
      .filter((data) => data.board_id === boardId);

  it('is told to people on the board when it changes, and not when it is only renewed', async () => {
    await report('idle');
    const [mine, others, outside] = [await open(pam), await open(server.dana), await open(eve)];
    const { presence_since } = await report('working', 'humans');
    for (const stream of [mine, others]) {
      const { data } = await stream.frame(({ event, data }) => event === 'presence' && data.board_id === boardId);
      hintFrames.shape.presence.parse(data);
      expect(data).to.deep.equal({
        board,
        board_id: boardId,
        agent: agent.name,
        member_id: agent.memberId,
        presence: 'working',
        presence_since,
        delivery: 'humans',
        line: null,
        state: 'working',
      });
    }
    await report('working');
    await report('waiting');
    await mine.until(() => told(mine).length === 2);
    expect(told(mine)[1]).to.include({ presence: 'waiting', state: 'waiting', delivery: 'humans' });
    await report('no_session');
    await mine.until(() => told(mine).length === 3);
    expect(told(mine)[2]).to.include({ presence: 'no_session', state: 'disconnected' });
    expect(told(outside)).to.deep.equal([]);
    for (const stream of [mine, others, outside]) stream.close();
  });

  it('is not told at opening, and not on streams that did not ask for it', async () => {
    await report('working');
    const [all, some, filtered] = [
      await open(pam),
      await open(pam, { events: 'head,unread' }),
      await open(pam, { boards: 'another' }),
    ];
    await report('idle');
    await all.frame(({ event }) => event === 'presence');
    expect(told(all)).to.have.length(1);
    expect(told(some)).to.deep.equal([]);
    expect(told(filtered)).to.deep.equal([]);
    for (const stream of [all, some, filtered]) stream.close();
  });

  it('runs out in front of everybody, 180 seconds after the last report', async () => {
    await report('working');
    const stream = await open(server.dana);
    server.clock.advance(100_000);
    await report('working');
    const last = server.clock.now();
    server.clock.advance(100_000);
    await server.dana.ok('getMe');
    expect(told(stream)).to.deep.equal([]);
    server.clock.advance(81_000);
    const { data } = await stream.frame(({ event, data }) => event === 'presence' && data.board_id === boardId);
    expect(data).to.include({ presence: 'no_session', state: 'disconnected' });
    expect(Date.parse(data.presence_since) - last).to.be.within(-5_000, 5_000);
    stream.close();
  });

  it('runs out in time where the clock jumps while it is looked up', async () => {
    const stream = await open(server.dana);
    const { db } = server;
    const read = db.read;
    db.read = (run, options) =>
      read.call(
        db,
        async (tx) => {
          if (options?.shares === 'look') {
            db.read = read;
            server.clock.advance(181_000);
          }
          return run(tx) as Promise<never>;
        },
        options,
      ) as Promise<never>;
    await report('working');
    const { data } = await stream.frame(
      ({ event, data }) => event === 'presence' && data.board_id === boardId && data.presence === 'no_session',
    );
    expect(data).to.include({ state: 'disconnected' });
    stream.close();
  });

  it('is told to a stream that opened while a change before it was still to be read', async () => {
    await report('working');
    const other = await open(server.dana);
    const look = holdNextRead(server, 'presences.ts', 'before');
    await report('idle');
    await look.begun;
    const stream = await open(pam);
    await report('no_session');
    look.goOn();
    const ended = ({ event, data }: Frame) => event === 'presence' && data.presence === 'no_session';
    await other.frame(ended);
    await stream.frame(ended);
    for (const one of [stream, other]) one.close();
    Reflect.deleteProperty(server.db, 'read');
  });

  it('is told with the new title of the task that a line is about', async () => {
    const { ref } = await pam.ok('createTask', { params: { board }, body: { title: 'Retry design' } });
    await agent.ok('setMyLine', { body: { kind: 'working', text: 'retries', task: ref } });
    const stream = await open(pam);
    await pam.ok('updateTask', { params: { board, task: ref }, body: { title: 'Retry limits' } });
    await stream.until(() => told(stream).length === 1);
    expect(told(stream)[0].line.task.title).to.equal('Retry limits');
    stream.close();
  });

  it('is told with the new handle of the person who set a line', async () => {
    const ada = await server.person('ada');
    await putOnBoard(server, board, ada);
    const { name: member } = await newAgent(ada, board);
    await ada.ok('setAgentLine', { params: { board, member }, body: { kind: 'working', text: 'retries' } });
    const stream = await open(pam);
    await ada.ok('renamePerson', { params: { handle: 'ada' }, body: { handle: 'ada-lovelace' } });
    await stream.until(() => told(stream).length === 1);
    expect(told(stream)[0].line.set_by).to.equal('ada-lovelace');
    stream.close();
  });

  it('is told of a board somebody comes onto while their stream is open', async () => {
    await report('working');
    const stream = await open(eve);
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'eve' } });
    await stream.frame(({ event, data }) => event === 'head' && data.board_id === boardId);
    await report('idle');
    const { data } = await stream.frame(({ event, data }) => event === 'presence' && data.board_id === boardId);
    expect(data).to.include({ member_id: agent.memberId, presence: 'idle' });
    await eve.ok('leaveBoard', { params: { board } });
    await stream.frame(({ event }) => event === 'board_unavailable');
    await report('working');
    await report('idle');
    await server.dana.ok('getMe');
    expect(told(stream)).to.have.length(1);
    stream.close();
  });

  it('tells a mode that was set to the agent’s person only', async () => {
    const [mine, others] = [await open(pam), await open(server.dana)];
    await pam.ok('setDeliveryMode', { params: { board, member: agent.name }, body: { mode: 'humans' } });
    const { data } = await mine.frame(({ event }) => event === 'delivery');
    expect(data).to.deep.equal({ board_id: boardId, member_id: agent.memberId, mode: 'humans', revision: 1 });
    await pam.ok('setDeliveryMode', { params: { board, member: agent.name }, body: { mode: 'humans' } });
    await report('working');
    await others.frame(({ event }) => event === 'presence');
    expect(mine.named('delivery')).to.have.length(1);
    expect(others.named('delivery')).to.deep.equal([]);
    expect(mine.named('head')).to.have.length(mine.named('unread').length);
    for (const stream of [mine, others]) stream.close();
  });

  if (engine === 'postgres') {
    it('reaches streams of another server process, changes and what runs out alike', async () => {
      const twin = await startTwin(server);
      const stream = await open(new Api(twin.url, server.dana.token));
      await report('working');
      await stream.frame(({ event, data }) => event === 'presence' && data.presence === 'working');
      const mine = await open(new Api(twin.url, pam.token));
      await pam.ok('setDeliveryMode', { params: { board, member: agent.name }, body: { mode: 'all' } });
      await mine.frame(({ event }) => event === 'delivery');
      server.clock.advance(181_000);
      await stream.frame(({ event, data }) => event === 'presence' && data.presence === 'no_session');
      for (const one of [stream, mine]) one.close();
      await twin.close();
    });
  }
});
