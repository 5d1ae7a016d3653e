import { expect } from 'chai';
import { forEachDatabase } from '../../support/databases.ts';
import { exchange, lines } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

forEachDatabase('the host a request names', (engine) => {
  let server: TestServer;
  let port: string;
  before(async () => {
    server = await startTestServer(engine);
    port = new URL(server.url).port;
  });
  after(() => server.stop());

  const ask = (target: string, ...headers: string[]) =>
    exchange(server.url, lines(`GET ${target} HTTP/1.1`, ...headers));

  it('is the loopback address or localhost, in any case, with the port', async () => {
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`]) {
      expect((await ask('/v1/info', `Host: ${host}`)).status, host).to.equal(200);
    }
  });

  it('is no other: a foreign name, another port, no port, IPv6, a look-alike', async () => {
    const others = ['example.com', `example.com:${port}`, '127.0.0.1', 'localhost', `127.0.0.1:${Number(port) + 1}`];
    for (const host of [
      ...others,
      `[::1]:${port}`,
      `127.0.0.1:${port}.`,
      `localhost.:${port}`,
      `a@127.0.0.1:${port}`,
      '',
    ]) {
      const answer = await ask('/v1/info', `Host: ${host}`);
      expect([answer.status, answer.code], host).to.deep.equal([421, 'host_not_allowed']);
      expect(answer.headers.get('connection')).to.equal('close');
      expect(answer.headers.get('x-request-id')).to.match(/^req_/);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
    }
  });

  it('is named once: missing or repeated is refused, also with the right value twice', async () => {
    const right = `Host: 127.0.0.1:${port}`;
    expect((await ask('/v1/info')).status).to.equal(421);
    expect((await ask('/v1/info', right, right)).status).to.equal(421);
    expect((await ask('/v1/info', right, 'Host: example.com')).status).to.equal(421);
    const old = await exchange(server.url, 'GET /v1/info HTTP/1.0\r\n\r\n');
    expect(old.status).to.equal(421);
  });

  it('goes with a path: every other form of target is refused', async () => {
    const right = `Host: 127.0.0.1:${port}`;
    for (const target of [`http://127.0.0.1:${port}/v1/info`, `http://example.com/v1/info`]) {
      expect((await ask(target, right)).code, target).to.equal('host_not_allowed');
    }
    const star = await exchange(server.url, lines('OPTIONS * HTTP/1.1', right));
    expect(star.code).to.equal('host_not_allowed');
  });

  it('is looked at before everything: path, method, limits, credential', async () => {
    for (const target of ['/', '/nowhere', '/v1/boards', '/openapi.json', `/${'x'.repeat(9_000)}`]) {
      expect((await ask(target, 'Host: example.com')).code, target).to.equal('host_not_allowed');
    }
  });
});
