import { once } from 'node:events';
import { expect } from 'chai';
import { readInboxQuery } from '../../../src/contract/nouns/inbox.ts';
import type { Api } from '../../support/api.ts';
import { newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { bothEnds, parse } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

forEachDatabase('a connection', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('on which something else than a request came is let go, also where its client keeps it', async () => {
    const { client, serverEnd } = await bothEnds(server.url, { allowHalfOpen: true });
    let answer = '';
    client.on('data', (bytes) => {
      answer += bytes;
    });
    client.on('error', () => {});
    client.write('this is no request\r\n\r\n');
    await once(client, 'end');
    expect(parse(answer)).to.include({ status: 400, code: 'invalid_request' });
    expect(serverEnd.destroyed, 'at once').to.equal(false);
    server.clock.advance(1_000);
    await until(() => serverEnd.destroyed, 'the server lets it go', 5_000);
    client.destroy();
  });

  it('whose client reads none of its answers is given up after 15 minutes, and not while one is waited for', async () => {
    const { client, serverEnd } = await bothEnds(server.url);
    client.on('error', () => {});
    client.pause();
    const board = await newBoard(server.dana);
    for (let n = 0; n < 30; n++) await post(server.dana, board.name, 'x'.repeat(32_000));
    const asked = (path: string, { token }: Api) =>
      `GET ${path} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    for (let n = 0; serverEnd.writableLength === 0 && n < 100; n++) {
      client.write(asked(`/v1/boards/${board.name}/messages?limit=30`, server.dana));
      // What is asked later is answered later.
      await server.dana.ok('getMe');
    }
    expect(serverEnd.writableLength).to.be.greaterThan(0);
    expect(serverEnd.timeout).to.equal(900_000);
    expect(readInboxQuery.safeParse({ wait: '800' }).success, 'the longest wait is shorter').to.equal(false);
    // As if that time had passed.
    serverEnd.setTimeout(1);
    await until(() => serverEnd.destroyed, 'the server gives it up', 5_000);
    client.destroy();
  });
});
