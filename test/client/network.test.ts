import { expect } from 'chai';
import { Client } from '../../src/client/client.ts';
import { ClientError } from '../../src/client/errors.ts';
import { networkError } from '../../src/client/network.ts';
import { clientOf, closeServers, FakeClock, failure, inClass, sendJson, serve, serveRaw, tick } from './support.ts';

const origin = 'https://boards.example.com';

/** What `fetch` throws when the system reports `cause`. */
const failed = (cause: object) => new TypeError('fetch failed', { cause: Object.assign(new Error('x'), cause) });

describe('client: connection errors', () => {
  afterEach(closeServers);

  it('knows which failures came before the request was written', () => {
    const causes = [
      { code: 'ECONNREFUSED' },
      { code: 'EHOSTUNREACH' },
      { code: 'ENETUNREACH' },
      { code: 'EAI_AGAIN', syscall: 'getaddrinfo' },
      { code: 'UND_ERR_CONNECT_TIMEOUT' },
      { code: 'ECONNRESET', syscall: 'connect' },
      { code: 'ETIMEDOUT', syscall: 'connect' },
      {
        code: 'ECONNRESET',
        message: 'Client network socket disconnected before secure TLS connection was established',
      },
      { code: 'UND_ERR_SOCKET', socket: { bytesWritten: 0 } },
    ];
    for (const cause of causes) {
      const error = networkError(failed(cause), origin);
      expect(error, cause.code).to.include({ code: 'server_unreachable', delivery: 'not_sent', transient: true });
      expect(error.details).to.deep.equal({ origin, cause: cause.code });
    }
  });

  it('leaves what a fetch of its own says about its network as it is', async () => {
    const known = new ClientError('server_not_running', 'It does not run.', { hint: 'start it' });
    const fetch = () => Promise.reject(known);
    expect(await failure(new Client({ origin, fetch }).call('getInfo'))).to.equal(known);
  });

  it('takes every other broken connection for one that may have carried the request', () => {
    const causes = [
      { code: 'ECONNRESET', syscall: 'read' },
      { code: 'EPIPE', syscall: 'write' },
      { code: 'ETIMEDOUT', syscall: 'read' },
      { code: 'UND_ERR_SOCKET', socket: { bytesWritten: 120 } },
      { code: 'UND_ERR_HEADERS_TIMEOUT' },
      { code: 'UND_ERR_BODY_TIMEOUT' },
    ];
    for (const cause of causes) {
      const error = networkError(failed(cause), origin);
      expect(error, cause.code).to.include({ code: 'server_unreachable', delivery: 'unclear', transient: true });
    }
    // A browser says nothing about the cause.
    expect(networkError(new TypeError('Failed to fetch'), origin)).to.include({ delivery: 'unclear', transient: true });
  });

  it('does not try again where another try cannot help: unknown name, certificate, no TLS', () => {
    for (const code of [
      'ENOTFOUND',
      'CERT_HAS_EXPIRED',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ]) {
      const error = networkError(failed({ code }), origin);
      expect(error, code).to.include({ code: 'server_unreachable', delivery: 'not_sent', transient: false });
    }
  });

  it('says what to check of an address that leads nowhere', () => {
    const hintOf = (cause: object) => networkError(failed(cause), origin).hint;
    expect(hintOf({ code: 'ENOTFOUND' })).to.match(/^Check that the address https:\/\/boards\.example\.com is right/);
    expect(hintOf({ message: 'bad port' })).to.match(/^Check the port of https:\/\/boards\.example\.com/);
    expect(hintOf({ code: 'ECONNREFUSED' })).to.include('is running');
  });

  it('sees the first cause of addresses that were tried in parallel', () => {
    const all = Object.assign(new AggregateError([new Error('a')]), { code: 'ECONNREFUSED' });
    expect(networkError(new TypeError('fetch failed', { cause: all }), origin).delivery).to.equal('not_sent');
  });

  it('gives up at once on a name that does not exist', async () => {
    const { client, clock } = clientOf('http://no-such-host.invalid');
    const error = await failure(client.call('getInfo'));
    // A machine without any name server answers EAI_AGAIN, which passes.
    if (error.details?.['cause'] === 'EAI_AGAIN') return;
    expect(error).to.include({ code: 'server_unreachable', attempts: 1 });
    expect(clock.slept).to.deep.equal([]);
  });

  it('follows no redirect, so the token never reaches another origin', async () => {
    const other = await serve((_, response) => sendJson(response, 200, {}));
    const server = await serve((_, response) => response.writeHead(307, { Location: `${other.origin}/v1/me` }).end());
    for (const klass of ['K', 'S'] as const) {
      const { client } = clientOf(server.origin);
      const error = await inClass(klass, () => failure(client.call('createBoard', { body: {} })));
      expect(error).to.include({ code: 'server_unexpected', attempts: 1 });
    }
    expect(server.seen).to.have.length(2);
    expect(other.seen).to.have.length(0);
  });

  it('says server_unexpected when what answers does not speak HTTP', async () => {
    const { origin: raw, sockets } = await serveRaw((socket) =>
      socket.on('data', () => socket.end('220 mail\r\n\r\n')),
    );
    const error = await failure(clientOf(raw).client.call('getMe'));
    expect(error).to.include({ code: 'server_unexpected', attempts: 1 });
    expect(sockets).to.have.length(1);
  });
});

describe('client: time limits', () => {
  afterEach(closeServers);

  it('gives up on headers after 15 s, repeats the read, and then has its answer', async () => {
    const server = await serve((_, response, count) => count > 1 && sendJson(response, 200, { id: 'hum_1' }));
    const { client, clock } = clientOf(server.origin);
    const call = client.call('getMe');
    await server.requests(1);
    clock.advance(14_999);
    expect(clock.held).to.have.length(1);
    clock.advance(1);
    expect((await call).data).to.deep.equal({ id: 'hum_1' });
    expect(server.seen).to.have.length(2);
  });

  it('adds the wait that it asks of the server to the limits on headers and on the call', async () => {
    const server = await serve(() => {});
    const { client, clock } = clientOf(server.origin);
    const call = client.call('readInbox', { query: { wait: 50 }, maxAttempts: 1 });
    await server.requests(1);
    expect(clock.held.map((entry) => entry.ms)).to.deep.equal([65_000]);
    clock.advance(65_000);
    expect(await failure(call)).to.include({ code: 'request_timeout', attempts: 1 });
  });

  it('ends a call at its own limit, with no further attempt', async () => {
    const server = await serve(() => {});
    const { client, clock } = clientOf(server.origin);
    const call = client.call('getMe', { timeoutMs: 10_000 });
    await server.requests(1);
    clock.advance(10_000);
    const error = await failure(call);
    expect(error).to.include({ code: 'request_timeout', attempts: 1, transient: true });
    expect(error.details).to.deep.equal({ phase: 'total' });
  });

  it('makes no attempt that would begin after the limit', async () => {
    const server = await serve((_, response) => response.destroy());
    const clock = new FakeClock((ms) => ![275, 525, 1_025].includes(ms));
    const error = await failure(clientOf(server.origin, { clock, timeoutMs: 1_000 }).client.call('getMe'));
    // Delays of 275 and 525 ms fit, the next one of 1,025 ms does not.
    expect(error).to.include({ code: 'server_unreachable', attempts: 3 });
    expect(clock.slept).to.deep.equal([275, 525]);
  });

  it('says outcome_unknown when a class S request is not answered in time', async () => {
    const server = await serve(() => {});
    const { client, clock } = clientOf(server.origin);
    await inClass('S', async () => {
      const call = failure(client.call('createBoard', { body: {} }));
      await server.requests(1);
      clock.advance(15_000);
      expect(await call).to.include({ code: 'outcome_unknown', attempts: 1 });
    });
    expect(server.seen).to.have.length(1);
  });

  it('keeps its limits when the platform does not pass an abort on', async () => {
    let cancelled = 0;
    const silent = () => new ReadableStream({ cancel: () => void cancelled++ });
    const headers = { 'Content-Type': 'application/json' };
    const deaf: Record<string, typeof fetch> = {
      headers: () => new Promise(() => {}),
      body: async () => new Response(silent(), { headers }),
    };
    for (const [phase, fetch] of Object.entries(deaf)) {
      const { client, clock } = clientOf('http://127.0.0.1:1', { fetch });
      const call = failure(client.call('getMe', { timeoutMs: 0, maxAttempts: 1 }));
      await tick();
      clock.advance(45_000);
      await tick();
      clock.advance(45_000);
      const error = await call;
      expect(error, phase).to.include({ code: 'request_timeout' });
      expect(error.details).to.deep.equal({ phase });
    }
    expect(cancelled).to.equal(1);
  });

  it('ends at once when it is aborted, and drops what comes late, though the platform does not notice', async () => {
    const abort = new AbortController();
    let cancelled = 0;
    let answer: (response: Response) => void = () => {};
    const fetch = () => new Promise<Response>((resolve) => (answer = resolve));
    const { client } = clientOf('http://127.0.0.1:1', { fetch });
    const call = client.call('getMe', { signal: abort.signal }).catch((error: Error) => error);
    await tick();
    abort.abort(new Error('stop it'));
    expect(await call).to.have.property('message', 'stop it');
    answer(new Response(new ReadableStream({ cancel: () => void cancelled++ })));
    await tick();
    expect(cancelled).to.equal(1);
  });

  it('lets go of a page that it does not read', async () => {
    let cancelled = 0;
    const fetch = async () => new Response(new ReadableStream({ cancel: () => void cancelled++ }), { status: 403 });
    const { client } = clientOf('http://127.0.0.1:1', { fetch });
    expect(await failure(client.call('getMe'))).to.include({ code: 'server_unexpected' });
    expect(cancelled).to.equal(1);
  });
});
