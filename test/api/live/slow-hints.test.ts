/**
 * A reader of hints that stops reading is let go, however much happens meanwhile. Hints are small: it takes some 10,000
 * events to fill a socket with them, so this runs with SERVICE_TEST_LONG=1 alone.
 */
import { once } from 'node:events';
import { expect } from 'chai';
import { newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { open } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { fillLog } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const STALLED_MS = 30_000;
const BOARDS = 80;
const PER_TURN = 1;

forEachDatabase('a reader of hints that stops reading', (engine) => {
  if (!LONG) return;

  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is cut off after 30 seconds, and a new stream opens with where everything is now', async function () {
    this.timeout(60_000);
    const boards = [];
    for (let n = 0; n < BOARDS; n++) boards.push(await newBoard(server.dana));
    const socket = open(server.url);
    await once(socket, 'connect');
    socket.pause();
    socket.on('error', () => {});
    const { host } = new URL(server.url);
    socket.write(`GET /v1/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.dana.token}\r\n\r\n`);
    const quick = await TestStream.open(server.dana);
    await quick.frame(({ event }) => event === 'ready');

    let events = 0;
    while (server.clock.waiting(STALLED_MS) === 0 && events < 400_000) {
      await Promise.all(boards.map((board) => fillLog(server, board.name, PER_TURN)));
      events += BOARDS * PER_TURN;
    }
    expect(server.clock.waiting(STALLED_MS), `the server noticed a full socket after ${events} events`).to.equal(1);
    const board = boards[0] as (typeof boards)[0];
    const { seq } = await post(server.dana, board.name, 'goes on');
    await quick.frame(({ event, data }) => event === 'head' && data.board_id === board.id && data.seq === seq);

    server.clock.advance(STALLED_MS);
    socket.resume();
    await until(() => socket.destroyed || socket.readableEnded, 'the socket is closed');
    const again = await TestStream.open(server.dana);
    await again.frame(({ event }) => event === 'ready');
    const head = again.named('head').find(({ data }) => data.board_id === board.id);
    expect(head?.data.seq).to.equal(seq);
    for (const stream of [quick, again]) stream.close();
  });
});
