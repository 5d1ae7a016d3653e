import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { open } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

const STALLED_MS = 30_000;

forEachDatabase('a reader that stops reading', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  /** Opens a stream on a socket nobody reads from. */
  async function stuck(board: string): Promise<Socket> {
    const socket = open(server.url);
    await once(socket, 'connect');
    socket.pause();
    socket.on('error', () => {});
    const host = new URL(server.url).host;
    socket.write(
      `GET /v1/stream?board=${board}&after=0 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.dana.token}\r\n\r\n`,
    );
    return socket;
  }

  it('is cut off after 30 seconds, holds nobody up, and resumes by its id', async () => {
    const { name } = await newBoard(server.dana);
    const socket = await stuck(name);
    const quick = await TestStream.open(server.dana, { board: name, after: 0 });
    const big = 'x'.repeat(32_000);
    let head = 0;
    // More than the sockets' own buffers take.
    while (server.clock.waiting(STALLED_MS) === 0 && head < 1_000) head = (await post(server.dana, name, big)).seq;
    expect(server.clock.waiting(STALLED_MS), 'the server noticed a full socket').to.equal(1);
    await quick.frame(({ id }) => id === String(head));

    server.clock.advance(STALLED_MS - 1_000);
    const more = await post(server.dana, name, 'goes on');
    await quick.frame(({ id }) => id === String(more.seq));
    expect(socket.destroyed).to.equal(false);
    server.clock.advance(1_000);
    socket.resume();
    await until(() => socket.destroyed || socket.readableEnded, 'the socket is closed');
    const again = await TestStream.open(server.dana, { board: name }, { 'last-event-id': String(head) });
    await again.frame(({ event }) => event === 'ready');
    expect(again.named('event').map(({ id }) => id)).to.deep.equal([String(more.seq)]);
    for (const stream of [quick, again]) stream.close();
  });

  it('is not cut off when it reads again in time, and then gets everything in order', async () => {
    const { name } = await newBoard(server.dana);
    const socket = await stuck(name);
    const big = 'y'.repeat(32_000);
    let head = 0;
    while (server.clock.waiting(STALLED_MS) === 0 && head < 1_000) head = (await post(server.dana, name, big)).seq;
    server.clock.advance(STALLED_MS - 1_000);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.resume();
    await until(() => text.includes(`\nid: ${head}\n`), 'everything arrived');
    server.clock.advance(STALLED_MS);
    const { seq } = await post(server.dana, name, 'goes on');
    await until(() => text.includes(`\nid: ${seq}\n`), 'and it goes on');
    const ids = [...text.matchAll(/event: event\nid: (\d+)\n/g)].map((match) => Number(match[1]));
    expect(ids).to.deep.equal(Array.from({ length: seq }, (_, n) => n + 1));
    socket.destroy();
  });
});
