import { once } from 'node:events';
import { expect } from 'chai';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { bothEnds, open } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard, revokeKey } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

const DAY = 86_400_000;

forEachDatabase('an open stream', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('counts as a use of its key every 24 hours, so that the key does not idle out', async () => {
    for (const hints of [false, true]) {
      const ivy = await server.person(`ivy-${hints}`, 'member', { expiresIn: 2 * 86_400, idleSeconds: 2 * 86_400 });
      const board = await newBoard(ivy);
      const stream = await TestStream.open(ivy, hints ? {} : { board: board.name });
      await stream.frame(({ event }) => event === 'ready');
      for (let day = 0; day < 4; day++) {
        const before = (await lastUse(ivy.personId)) ?? 0;
        server.clock.advance(DAY + 60_000);
        await until(async () => ((await lastUse(ivy.personId)) ?? 0) > before, `day ${day} is counted`);
      }
      expect(stream.ended).to.equal(false);
      stream.close();
    }
  });

  const lastUse = async (personId: string | undefined) => {
    const rows = await server.db.read((tx) =>
      tx.query<{ last_used_at: number | null }>((db) => db('access_keys').where('person_id', personId).select()),
    );
    return rows[0]?.last_used_at;
  };

  it('of a revoked key ends within seconds also when its reader does not read', async () => {
    const rex = await server.person('rex');
    const { name } = await newBoard(server.dana);
    await putOnBoard(server, name, rex);
    const socket = open(server.url);
    await once(socket, 'connect');
    socket.pause();
    socket.on('error', () => {});
    const host = new URL(server.url).host;
    socket.write(
      `GET /v1/stream?board=${name} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${rex.token}\r\n\r\n`,
    );
    for (let n = 0; server.clock.waiting(30_000) === 0 && n < 1_000; n++) {
      await post(server.dana, name, 'x'.repeat(32_000));
    }
    await revokeKey(server, rex);
    await server.clock.within(1_000, () => until(() => server.clock.waiting(30_000) === 0, 'the server ended it'));
    server.clock.advance(1_000);
    socket.resume();
    await until(() => socket.readableEnded || socket.destroyed, 'the socket is closed');
  });

  it('is not written into where another request and then no valid one come on its connection', async () => {
    const { name } = await newBoard(server.dana);
    const agent = await newAgent(server.dana, name);
    const { host } = new URL(server.url);
    const asked = (path: string, { token }: { token?: string | undefined }) =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const socket = open(server.url);
    let got = '';
    socket.on('data', (bytes) => {
      got += bytes;
    });
    socket.write(asked(`/v1/stream?board=${name}`, server.dana) + asked('/v1/me/inbox?wait=60', agent));
    await until(() => got.includes('event: ready'), 'the stream is open');
    // What is asked later is answered later.
    await server.dana.ok('getMe');
    socket.write('this is no request\r\n\r\n');
    await once(socket, 'close');
    expect(got.match(/HTTP\/1\.1/g)).to.have.length(1);
  });

  it('goes on while a thousand requests wait behind it, and is ended by more, or by few large ones', async () => {
    const { name } = await newBoard(server.dana);
    const behind = (count: number, more = '') =>
      `GET / HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n${more}\r\n`.repeat(count);
    const large = 'x'.repeat(60_000);
    for (const [count, more] of [
      [1_000, ''],
      [60, `X-Large: ${large}\r\n`],
      [60, `Content-Length: 60002\r\n\r\n${large}`],
    ] as const) {
      const { client, serverEnd } = await bothEnds(server.url);
      client.on('error', () => {});
      let got = '';
      client.on('data', (bytes) => {
        got += bytes;
      });
      const head = `GET /v1/stream?board=${name} HTTP/1.1\r\nHost: ${new URL(server.url).host}`;
      client.write(`${head}\r\nAuthorization: Bearer ${server.dana.token}\r\n\r\n${behind(count, more)}`);
      await until(() => got.includes('event: ready'), 'the stream is open');
      const text = `goes on with ${more.length}`;
      await post(server.dana, name, text);
      await until(() => got.includes(text), 'the stream goes on');
      client.write(behind(30, more));
      await until(() => serverEnd.destroyed, 'the server ended it');
    }
  });

  it('lets as many be answered where they are answered in turn', async () => {
    const socket = open(server.url);
    let got = '';
    socket.on('data', (bytes) => {
      got += bytes;
    });
    for (let n = 1; n <= 15; n++) {
      socket.write(`GET /v1/info HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n\r\n`.repeat(100));
      await until(() => got.split('HTTP/1.1 200').length - 1 === 100 * n, `all of round ${n} are answered`);
    }
    socket.destroy();
  });

  it('lets hundreds be answered that are sent at once where none of them lasts', async () => {
    const socket = open(server.url);
    let got = '';
    socket.on('data', (bytes) => {
      got += bytes;
    });
    const host = `Host: ${new URL(server.url).host}\r\nAuthorization: Bearer ${server.dana.token}`;
    const body = JSON.stringify({ body: 'one of many' });
    const { name } = await newBoard(server.dana);
    const posted = `POST /v1/boards/${name}/messages HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(posted.repeat(30) + `GET /v1/info HTTP/1.1\r\n${host}\r\n\r\n`.repeat(600) + posted.repeat(30));
    await until(() => got.split('HTTP/1.1 200').length - 1 === 600, 'all reads are answered');
    await until(() => got.split('HTTP/1.1 201').length - 1 === 60, 'all posts are answered');
    socket.destroy();
  });
});
