import type { Socket } from 'node:net';
import { expect } from 'chai';
import { newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { holdNextRead } from '../../support/hold-read.ts';
import { exchange, lines, open } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

/** How long a small body is waited for before its credential is looked up; then the rest of its 30 seconds. */
const AT_ONCE_MS = 250;
const REST_MS = 30_000 - AT_ONCE_MS;

forEachDatabase('a body that is slow to come', (engine) => {
  let server: TestServer;
  let board: string;
  before(async () => {
    server = await startTestServer(engine);
    board = (await newBoard(server.dana)).name;
  });
  after(() => server.stop());

  /** A post whose body never comes; only its head is sent. */
  const headOnly = (token: string | undefined, length: number) =>
    exchange(
      server.url,
      lines(
        `POST /v1/boards/${board}/messages HTTP/1.1`,
        `Host: ${new URL(server.url).host}`,
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Content-Length: ${length}`,
      ),
    );

  it('is given up after 30 seconds with 408', async () => {
    const answer = headOnly(server.dana.token, 20);
    await until(() => server.clock.waiting(AT_ONCE_MS) > 0, 'the server waits for the body');
    server.clock.advance(AT_ONCE_MS);
    await until(() => server.clock.waiting(REST_MS) > 0, 'the server goes on waiting');
    server.clock.advance(REST_MS);
    expect(await answer).to.include({ status: 408, code: 'request_timeout' });
    expect((await answer).headers.get('connection')).to.equal('close');
  });

  it('is not waited for on behalf of a credential that does not work', async () => {
    const ended = await server.person('ended', 'member', { expiresIn: 60 });
    server.clock.advance(61_000);
    const answer = headOnly(ended.token, 20);
    await until(() => server.clock.waiting(AT_ONCE_MS) > 0, 'the server waits a moment');
    server.clock.advance(AT_ONCE_MS);
    expect(await answer).to.include({ status: 401, code: 'unauthorized' });
  });

  it('is not waited for at all where it is large and the credential does not work', async () => {
    const ended = await server.person('ended-too', 'member', { expiresIn: 60 });
    server.clock.advance(61_000);
    const answer = server.clock.within(AT_ONCE_MS - 1, () => headOnly(ended.token, 16_385));
    expect(await answer).to.include({ status: 401, code: 'unauthorized' });
  });

  it('and is refused before it is read leaves its client the time to read the answer', async () => {
    const socket = open(server.url);
    let answer = '';
    let failure: Error | null = null;
    socket.on('error', (error) => {
      failure = error;
    });
    const ended = new Promise((resolve) => socket.once('close', resolve));
    const head = [
      'PATCH /v1/me HTTP/1.1',
      `Host: ${new URL(server.url).host}`,
      `Authorization: Bearer ${server.dana.token}`,
      'Content-Type: application/json',
      'Content-Length: 2000000',
    ];
    socket.write(lines(...head));
    // A client that sends before it reads: by now the server has answered, and what comes would find it closed.
    for (let piece = 0; piece < 4; piece++) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      socket.write(Buffer.alloc(10_000, 0x20));
    }
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    await ended;
    expect(failure).to.equal(null);
    expect(answer).to.match(/^HTTP\/1\.1 413 /);
    expect(answer).to.include('request_too_large');
  });

  it('and nobody reads holds its connection no longer than a body may take', async () => {
    const socket = open(server.url);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', () => {});
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`POST /v1/nothing HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nContent-Length: 20\r\n\r\n`);
    await until(() => answer.includes('not_found'), 'it is answered');
    await until(() => server.clock.waiting(30_000) > 0, 'the rest of its body is waited for');
    server.clock.advance(30_000);
    await ended;
  });

  /** All that a connection brings until it is closed, of bytes of which the last come when the answer has begun. */
  async function twice(first: string, begun: string, then: (socket: Socket) => void): Promise<string> {
    const socket = open(server.url);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', () => {});
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.write(first);
    await until(() => answer.includes(begun), 'the answer has begun');
    then(socket);
    await ended;
    return answer;
  }

  const answersIn = (text: string): number => text.split('HTTP/1.1 ').length - 1;

  it('and breaks off after its refusal gets no second answer', async () => {
    const head = lines('PATCH /v1/me HTTP/1.1', `Host: ${new URL(server.url).host}`, 'Content-Length: 100');
    const answer = await twice(`${head}{"dis`, 'unauthorized', (socket) => socket.end());
    expect(answersIn(answer), answer).to.equal(1);
  });

  it('and is no request, after one that is still being answered, gets nothing into that answer', async () => {
    const head = lines(
      `GET /v1/stream?board=${board} HTTP/1.1`,
      `Host: ${new URL(server.url).host}`,
      `Authorization: Bearer ${server.dana.token}`,
    ).replace('close', 'keep-alive');
    const answer = await twice(head, 'event: ready', (socket) => socket.write('nonsense\r\n\r\n'));
    expect(answersIn(answer), answer).to.equal(1);
  });

  it('is cut off, and no failure of the server, where its client goes away while the credential is read', async () => {
    for (const declared of ['Transfer-Encoding: chunked', 'Content-Length: 200000']) {
      const reading = holdNextRead(server, 'operation/read.ts', 'before');
      const socket = open(server.url);
      const head = [`POST /v1/boards/${board}/messages HTTP/1.1`, `Host: ${new URL(server.url).host}`, declared];
      socket.write(lines(...head, `Authorization: Bearer ${server.dana.token}`, 'Content-Type: application/json'));
      await reading.begun;
      socket.destroy();
      // By the time this is answered, the server knows.
      await server.nobody.ok('getInfo');
      reading.goOn();
      for (let n = 0; n < 3; n++) await server.dana.ok('getMe');
    }
    Reflect.deleteProperty(server.db, 'read');
    expect(server.log.filter((line) => line.includes('unexpected failure'))).to.deep.equal([]);
  });
});
