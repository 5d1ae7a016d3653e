import { expect } from 'chai';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { TestStream } from '../../support/stream.ts';

const CUTS = 100;

forEachDatabase('a reader that is cut off again and again while others write', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  /** Writes until told to stop; answers every number it wrote. */
  function keepWriting(write: (n: number) => Promise<{ seq: number }>): () => Promise<number[]> {
    let stopped = false;
    const done = (async () => {
      const written: number[] = [];
      for (let n = 0; !stopped; n++) written.push((await write(n)).seq);
      return written;
    })();
    return () => {
      stopped = true;
      return done;
    };
  }

  it('gets every event of a stream once and in order, over 100 cuts', async () => {
    const board = await newBoard(server.dana);
    const writer = await newAgent(server.dana, board.name);
    const stop = keepWriting((n) => post(writer, board.name, `${n}`));
    const seen: number[] = [];
    let last: string | undefined = '0';
    for (let cut = 0; cut < CUTS; cut++) {
      const stream: TestStream = await TestStream.open(server.dana, { board: board.name }, { 'last-event-id': last });
      // Cut in the backlog, at `ready` or at some later frame.
      await stream.until(() => stream.frames.length > cut % 5);
      stream.close();
      // What arrived with the cut counts too: a client keeps the last id it saw.
      const ids = stream.frames.flatMap(({ id, event }) => (id !== undefined && event === 'event' ? [id] : []));
      seen.push(...ids.map(Number));
      last = stream.frames.findLast(({ id }) => id !== undefined)?.id ?? last;
    }
    const written = await stop();
    const { head_seq } = await server.dana.ok('getBoard', { params: { board: board.name } });
    const rest = await TestStream.open(server.dana, { board: board.name }, { 'last-event-id': last ?? '0' });
    await rest.frame(({ event }) => event === 'ready');
    rest.close();
    seen.push(...rest.named('event').map(({ id }) => Number(id)));
    expect(seen).to.deep.equal(Array.from({ length: head_seq }, (_, n) => n + 1));
    expect(seen).to.include.members(written);
  });

  it('gets every message of an inbox once, waiting and acknowledging', async () => {
    const board = await newBoard(server.dana);
    const reader = await newAgent(server.dana, board.name);
    const writers = [await newAgent(server.dana, board.name), await newAgent(server.dana, board.name)];
    const stops = writers.map((writer) => keepWriting((n) => post(writer, board.name, `${n}`)));
    const seen: number[] = [];
    for (let round = 0; round < 40; round++) {
      const { messages } = await reader.ok('readInbox', { query: { wait: 5, limit: 1 + (round % 7) } });
      seen.push(...messages.map(({ seq }) => seq));
      await reader.ok('ackInbox', { body: { up_to: seen.at(-1) ?? 0 } });
    }
    const written = (await Promise.all(stops.map((stop) => stop()))).flat().sort((a, b) => a - b);
    for (let more = true; more; ) {
      const inbox = await reader.ok('readInbox', { query: { limit: 200, after: seen.at(-1) ?? 0 } });
      seen.push(...inbox.messages.map(({ seq }) => seq));
      more = inbox.more;
    }
    expect(seen).to.deep.equal(written);
  });

  it('gets every message of the timeline once by following `next_after`', async () => {
    const board = await newBoard(server.dana);
    const writers = [server.dana, await newAgent(server.dana, board.name)];
    const stops = writers.map((writer) => keepWriting((n) => post(writer, board.name, `${n}`)));
    const seen: number[] = [];
    const follow = async () => {
      const query = { after: seen.at(-1) ?? 0, limit: 7 };
      const { messages, next_after } = await server.dana.ok('listMessages', { params: { board: board.name }, query });
      seen.push(...messages.map(({ seq }) => seq));
      return next_after !== null;
    };
    for (let round = 0; round < 25; round++) await follow();
    const written = (await Promise.all(stops.map((stop) => stop()))).flat().sort((a, b) => a - b);
    while (await follow()) {
      // Up to the end.
    }
    expect(seen).to.deep.equal(written);
  });
});
