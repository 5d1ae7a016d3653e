import { expect } from 'chai';
import type { Answered } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

const statuses = (answers: Answered<unknown>[]): number[] => [...new Set(answers.map((answer) => answer.status))];
const times = <T>(n: number, fn: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => fn(i)));

forEachDatabase('requests at once', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('of one agent all succeed, posts and acknowledgements mixed', async () => {
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    const params = { board: board.name };
    const release = server.clock.holdBack(1_000);
    const posts = times(24, (i) => agent.call('postMessage', { params, body: { body: `${i}` } }));
    const acks = times(24, () => agent.call('ackInbox', { body: { up_to: 3 } }));
    expect(statuses(await posts)).to.deep.equal([201]);
    expect(statuses(await acks)).to.deep.equal([200]);
    release();
  });

  it('of 32 unnamed boards make 32 boards', async () => {
    const answers = await times(32, () => server.dana.call('createBoard', { body: { template: 'writer-reviewer' } }));
    expect(statuses(answers)).to.deep.equal([201]);
    expect(new Set(answers.map((answer) => answer.body.name)).size).to.equal(32);
  });

  it('never make an unread count wrong', async () => {
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    const params = { board: board.name };
    for (let round = 0; round < 8; round++) {
      await times(6, async (i) => {
        const { seq } = await post(agent, board.name, `${round} ${i}`);
        await server.dana.ok('ackBoard', { params, body: { up_to: seq } });
      });
    }
    expect((await server.dana.ok('getBoard', { params })).unread).to.equal(0);
  });

  it('give back the places of streams and waits whose clients left at once', async () => {
    const owner = await server.person('kit');
    const board = await newBoard(owner);
    const agent = await newAgent(owner, board.name);
    const leave = async (path: string, after: number) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), after);
      const options = { headers: agent.headers({}), signal: controller.signal };
      await fetch(server.url + path, options).then(
        (response) => response.body?.cancel(),
        () => {},
      );
    };
    for (const path of [`/v1/stream?board=${board.name}`, '/v1/me/inbox?wait=600']) {
      for (let round = 0; round < 12; round++) await times(8, (i) => leave(path, ((round * 8 + i) % 24) / 4));
    }
    // The server learns of the last departures a moment after the client.
    await until(async () => {
      const streams = await times(32, () => TestStream.open(agent, { board: board.name }));
      for (const stream of streams) stream.close();
      return streams.every((stream) => stream.status === 200);
    }, 'all 32 places are free again');
  });

  it('with the opening of a hint stream leave it one `ready`', async () => {
    const board = await newBoard(server.dana);
    const params = { board: board.name };
    for (let round = 0; round < 12; round++) {
      const opening = TestStream.open(server.dana);
      const last = times(3, async () => {
        const { seq } = await post(server.dana, board.name, 'x');
        await server.dana.ok('ackBoard', { params, body: { up_to: seq } });
        return seq;
      });
      const stream = await opening;
      const head = Math.max(...(await last));
      await stream.frame(({ event, data }) => event === 'head' && data.board === board.name && data.seq >= head);
      await stream.frame(({ event }) => event === 'ready');
      expect(stream.named('ready')).to.have.length(1);
      stream.close();
    }
  });

  it('are carried on live after the clock was set back', async () => {
    const board = await newBoard(server.dana);
    const stream = await TestStream.open(server.dana, { board: board.name });
    const first = await post(server.dana, board.name, 'before');
    await stream.frame(({ id }) => id === String(first.seq));
    server.clock.advance(-3_600_000);
    const second = await post(server.dana, board.name, 'after');
    await server.clock.within(1_000, () => stream.frame(({ id }) => id === String(second.seq)));
    server.clock.advance(3_600_000);
    stream.close();
  });
});
