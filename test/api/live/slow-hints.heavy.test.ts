/**
 * A reader of hints that stops reading is let go, however much happens meanwhile. Hints are small and the sockets of this
 * machine hold many of them, so the server's end of the connection is kept from sending instead.
 */
import { expect } from 'chai';
import { newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { bothEnds } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { fillLog } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

const STALLED_MS = 30_000;
const MAX_UNFLUSHED = 262_144;
const BOARDS = 80;
const PER_TURN = 5;
const EVENTS = 10_000;

forEachDatabase('a reader of hints that stops reading', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('costs no more memory than one socket may hold, is cut off after 30 seconds, and comes back to where everything is', async () => {
    const boards: Awaited<ReturnType<typeof newBoard>>[] = [];
    for (let n = 0; n < BOARDS; n++) boards.push(await newBoard(server.dana));
    const { client, serverEnd } = await bothEnds(server.url);
    client.on('error', () => {});
    serverEnd.cork();
    const { host } = new URL(server.url);
    client.write(`GET /v1/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.dana.token}\r\n\r\n`);
    await until(() => serverEnd.writableLength > 0, 'the stream is open');
    const quick = await TestStream.open(server.dana);
    await quick.frame(({ event }) => event === 'ready');

    let events = 0;
    const somethingHappens = async () => {
      await Promise.all(boards.map((board) => fillLog(server, board.name, PER_TURN)));
      events += BOARDS * PER_TURN;
    };
    while (server.clock.waiting(STALLED_MS) === 0 && events < 400_000) await somethingHappens();
    expect(server.clock.waiting(STALLED_MS), `the server noticed a full socket after ${events} events`).to.equal(1);
    const held = serverEnd.writableLength;
    expect(held)
      .to.be.greaterThan(MAX_UNFLUSHED)
      .and.lessThan(MAX_UNFLUSHED + 1_024);
    for (events = 0; events < EVENTS; ) await somethingHappens();
    const board = boards[0]!;
    const { seq } = await post(server.dana, board.name, 'goes on');
    await quick.frame(({ event, data }) => event === 'head' && data.board_id === board.id && data.seq === seq);
    expect(serverEnd.writableLength, `after ${EVENTS} more`).to.equal(held);

    server.clock.advance(STALLED_MS);
    await until(() => client.destroyed || client.readableEnded, 'the socket is closed');
    const again = await TestStream.open(server.dana);
    await again.frame(({ event }) => event === 'ready');
    const head = again.named('head').find(({ data }) => data.board_id === board.id);
    expect(head?.data.seq).to.equal(seq);
    for (const stream of [quick, again]) stream.close();
  });
});
