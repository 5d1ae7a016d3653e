import type net from 'node:net';
import { expect } from 'chai';
import { download } from '../../src/client/download.ts';
import { ClientError } from '../../src/client/errors.ts';
import { mayRetry, retryDelay } from '../../src/client/retry.ts';
import {
  clientOf,
  closeServers,
  deadOrigin,
  FakeClock,
  failure,
  inClass,
  refusal,
  sendJson,
  serve,
  serveRaw,
} from './support.ts';

const created = { id: 'brd_1', name: 'demo' };
const classes = ['K', 'R', 'N', 'S'] as const;
const post = (origin: string, clock = new FakeClock()) =>
  clientOf(origin, { clock }).client.call('createBoard', { body: { name: 'demo' } });

/** Reads requests on a raw socket and hands each to `answer`. */
const onRequest = (socket: net.Socket, answer: () => void) => socket.on('data', answer);
const answerOk = (socket: net.Socket) => {
  const body = JSON.stringify(created);
  socket.end(
    `HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
};

const wait = { 'Retry-After': '1' };

describe('client: retries', () => {
  afterEach(closeServers);

  it('tries 5 times when nothing listens, whatever the class, and then says server_unreachable', async () => {
    const origin = await deadOrigin();
    for (const klass of classes) {
      const clock = new FakeClock();
      const error = await inClass(klass, () => failure(post(origin, clock)));
      expect(error).to.include({ code: 'server_unreachable', attempts: 5, delivery: 'not_sent', status: undefined });
      expect(error.details).to.include({ cause: 'ECONNREFUSED' });
      expect(clock.slept, klass).to.have.length(4);
    }
  });

  it('draws the delays from 50 ms to a bound that doubles from 500 ms to 8 s', () => {
    // Of a server that says to try again at once, too.
    for (const retryAfter of [undefined, 0]) {
      const error = new ClientError('server_unreachable', '', { retryAfter });
      const bounds = (n: number) => [retryDelay(error, n, () => 0), retryDelay(error, n, () => 1)];
      expect([2, 3, 4, 5, 6, 7, 12].map(bounds)).to.deep.equal(
        [500, 1000, 2000, 4000, 8000, 8000, 8000].map((most) => [50, most]),
      );
    }
  });

  it('repeats a keyed write whose answer was cut off: same key, same bytes', async () => {
    const requests: string[] = [];
    const { origin } = await serveRaw((socket, count) =>
      socket.on('data', (data) => {
        requests[count - 1] = (requests[count - 1] ?? '') + String(data);
        if (!requests[count - 1]?.endsWith('}')) return;
        if (count === 1) socket.resetAndDestroy();
        else if (count === 2)
          socket.end('HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"id"');
        else answerOk(socket);
      }),
    );
    const reply = await post(origin);
    expect(reply.data).to.deep.equal(created);
    expect(requests).to.have.length(3);
    expect(requests[0]).to.match(/idempotency-key: cli_/i);
    expect(requests[1]).to.equal(requests[0]);
    expect(requests[2]).to.equal(requests[0]);
  });

  it('repeats reads and classes K, R and N after a reset that came late', async () => {
    for (const klass of ['K', 'R', 'N'] as const) {
      const { origin } = await serveRaw((socket, count) =>
        onRequest(socket, () => (count === 1 ? socket.resetAndDestroy() : answerOk(socket))),
      );
      const reply = await inClass(klass, () => post(origin));
      expect(reply.status, klass).to.equal(201);
    }
    const server = await serve((_, response, count) =>
      count === 1 ? response.destroy() : sendJson(response, 200, {}),
    );
    expect((await clientOf(server.origin).client.call('getMe')).status).to.equal(200);
  });

  it('knows of a keyed write that it may have been done, also where its repeats were sent away', async () => {
    const lost = await serve((_, response, count) =>
      count === 1 ? response.destroy() : response.writeHead(429, { 'Content-Type': 'text/html' }).end('Too many'),
    );
    expect(await failure(post(lost.origin))).to.include({ status: 429, delivery: 'unclear', mayBeDone: true });
    const away = await serve((_, response) => response.writeHead(429).end('Too many'));
    expect(await failure(post(away.origin))).to.include({ delivery: 'answered', mayBeDone: false });
    const read = await serve((_, response) => response.destroy());
    const { client } = clientOf(read.origin, { token: `abh_${'a'.repeat(43)}` });
    const seat = await failure(client.call('joinBoard', { body: { board: 'general', role: 'writer' } }));
    expect(seat, 'a seat is another one under another key').to.include({ delivery: 'unclear', mayBeDone: true });
    const error = await failure(client.call('getMe'));
    expect(error).to.include({ delivery: 'unclear', mayBeDone: false });
  });

  it('does not repeat class S once it may have been carried out: outcome_unknown', async () => {
    const ways: Record<string, (socket: net.Socket) => void> = {
      reset: (socket) => socket.resetAndDestroy(),
      closed: (socket) => socket.end(),
      truncated: (socket) =>
        socket.end('HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"id"'),
      'bad gateway': (socket) =>
        socket.end('HTTP/1.1 502 Bad\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\r\nx'),
      'gateway timeout': (socket) => socket.end('HTTP/1.1 504 Late\r\nContent-Length: 0\r\n\r\n'),
    };
    for (const [way, act] of Object.entries(ways)) {
      const { origin, sockets } = await serveRaw((socket) => onRequest(socket, () => act(socket)));
      const error = await inClass('S', () => failure(post(origin)));
      expect(error.code, way).to.equal('outcome_unknown');
      expect(error.cause, way).to.be.instanceOf(ClientError);
      expect(sockets, way).to.have.length(1);
    }
  });

  it('takes a 503 that says the outcome is unknown as an answer that was lost', async () => {
    const unknown = refusal('unavailable', { cause: 'database', outcome: 'unknown' });
    for (const klass of classes) {
      const server = await serve((_, response) => sendJson(response, 503, unknown, wait));
      const error = await inClass(klass, () => failure(post(server.origin)));
      const told = { code: error.code, requests: server.seen.length, mayBeDone: error.mayBeDone };
      if (klass === 'S') expect(told).to.deep.equal({ code: 'outcome_unknown', requests: 1, mayBeDone: false });
      else expect(told, klass).to.deep.equal({ code: 'unavailable', requests: 5, mayBeDone: klass !== 'N' });
    }
  });

  it('repeats after such an answer also what keeps none, but recognises its repeats', async () => {
    const unknown = refusal('unavailable', { cause: 'database', outcome: 'unknown' });
    const server = await serve((_, response, count) =>
      count === 1 ? sendJson(response, 503, unknown, wait) : sendJson(response, 202, {}),
    );
    const { client } = clientOf(server.origin);
    const reply = await client.call('requestAdminAction', { body: { kind: 'add_person', handle: 'bob' } as never });
    expect(reply.status).to.equal(202);
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).to.deep.equal([keys[0], keys[0]]);
  });

  it('repeats class S after a reset that came before the request was written', async () => {
    const { origin, sockets } = await serveRaw((socket, count) =>
      count === 1 ? socket.resetAndDestroy() : onRequest(socket, () => answerOk(socket)),
    );
    // Whether a reset this early hits before the request is written is up to the system: only then may it be repeated.
    const outcome = await inClass('S', () => post(origin).catch((error: ClientError) => error));
    if (outcome instanceof ClientError) {
      expect(outcome.code).to.equal('outcome_unknown');
      expect(sockets).to.have.length(1);
    } else {
      expect(sockets).to.have.length(2);
    }
  });

  // [status, code, headers, requests for K, R and N, requests for S]
  const table: [number, string, Record<string, string>, number, number][] = [
    [408, 'request_timeout', {}, 5, 1],
    [503, 'unavailable', {}, 5, 1],
    [503, 'unavailable', wait, 5, 5],
    [500, 'internal', {}, 2, 1],
    [429, 'rate_limited', wait, 5, 5],
    [409, 'idempotency_in_progress', wait, 5, 5],
    [409, 'board_name_taken', {}, 1, 1],
    [400, 'invalid_request', {}, 1, 1],
    [401, 'unauthorized', {}, 1, 1],
    [403, 'forbidden', {}, 1, 1],
    [404, 'board_not_found', {}, 1, 1],
    [413, 'request_too_large', {}, 1, 1],
    [422, 'idempotency_conflict', {}, 1, 1],
    [507, 'storage_full', {}, 1, 1],
    [418, 'teapot', wait, 1, 1],
  ];
  for (const [status, code, headers, kept, secret] of table) {
    const after = headers['Retry-After'] ? ' with Retry-After' : '';
    it(`sends ${kept} requests for K, R and N and ${secret} for S on ${status} ${code}${after}`, async () => {
      for (const klass of classes) {
        const server = await serve((_, response) => sendJson(response, status, refusal(code), headers));
        const error = await inClass(klass, () => failure(post(server.origin)));
        expect(error, klass).to.include({ code, status, attempts: klass === 'S' ? secret : kept });
        expect(server.seen, klass).to.have.length(error.attempts);
      }
    });
  }

  it('does not retry a 421, even where the platform trips over it', async () => {
    const server = await serve((_, response) => sendJson(response, 421, refusal('host_not_allowed')));
    const { client } = clientOf(server.origin);
    const calls = [() => client.call('getMe'), () => client.call('createBoard', { body: {} })];
    for (const call of calls) {
      expect(await failure(call())).to.include({ code: 'host_not_allowed', status: 421, attempts: 1 });
    }
  });

  it('repeats reads and keyed writes after 502 and 504, though the page of the gateway is no JSON', async () => {
    for (const status of [502, 504]) {
      const server = await serve((_, response, count) => {
        if (count === 3) sendJson(response, 201, created);
        else response.writeHead(status, { 'Content-Type': 'text/html' }).end('<h1>secret page</h1>');
      });
      expect((await post(server.origin)).status).to.equal(201);
    }
  });

  it('retries a 500 once in a call, even when something else came between', async () => {
    const server = await serve((_, response, count) =>
      sendJson(response, count === 2 ? 503 : 500, refusal(count === 2 ? 'unavailable' : 'internal')),
    );
    const error = await failure(post(server.origin));
    expect(error.code).to.equal('internal');
    expect(server.seen).to.have.length(3);
  });

  it('waits exactly as long as Retry-After says, in seconds or until a date', async () => {
    const date = new Date('2026-03-02T09:00:00Z');
    const later = new Date('2026-03-02T09:00:05Z');
    const values: Record<string, string>[] = [
      { 'Retry-After': '5' },
      { 'Retry-After': later.toUTCString(), Date: date.toUTCString() },
    ];
    for (const headers of values) {
      const server = await serve((_, response, count) =>
        count === 1 ? sendJson(response, 429, refusal('rate_limited'), headers) : sendJson(response, 201, created),
      );
      const clock = new FakeClock();
      await post(server.origin, clock);
      expect(clock.slept).to.deep.equal([5_000]);
    }
  });

  it('reads a Retry-After date against the clock of the server, not its own', async () => {
    const headers = { 'Retry-After': 'Mon, 02 Mar 2020 09:00:03 GMT', Date: 'Mon, 02 Mar 2020 09:00:00 GMT' };
    const server = await serve((_, response, count) =>
      count === 1 ? sendJson(response, 503, refusal('unavailable'), headers) : sendJson(response, 201, created),
    );
    const clock = new FakeClock();
    await post(server.origin, clock);
    expect(clock.slept).to.deep.equal([3_000]);
  });

  it('fails at once when Retry-After does not fit the time left, and says how long it would be', async () => {
    const server = await serve((_, response) =>
      sendJson(response, 429, refusal('rate_limited', { limit: 60 }), { 'Retry-After': '31' }),
    );
    const clock = new FakeClock();
    const error = await failure(post(server.origin, clock));
    expect(error).to.include({ code: 'rate_limited', retryAfter: 31, attempts: 1 });
    expect(error.details).to.deep.equal({ limit: 60, retry_after: 31 });
    expect(clock.slept).to.deep.equal([]);
  });

  it('waits for a Retry-After that fits into the time of a call that waits itself', async () => {
    const server = await serve((_, response, count) =>
      count === 1
        ? sendJson(response, 429, refusal('rate_limited'), { 'Retry-After': '60' })
        : sendJson(response, 200, { messages: [] }),
    );
    const clock = new FakeClock((ms) => ms !== 60_000);
    await clientOf(server.origin, { clock }).client.call('readInbox', { query: { wait: 50 } });
    expect(clock.slept).to.deep.equal([60_000]);
  });

  it('waits no longer before a transfer is tried again, which has no limit for its bytes', async () => {
    const server = await serve((_, response) =>
      sendJson(response, 503, refusal('unavailable'), { 'Retry-After': '600' }),
    );
    const clock = new FakeClock((ms) => ms > 9_000);
    const { client } = clientOf(server.origin, { clock });
    const params = { board: 'demo', file: 'a.md', version: 1 };
    const bytes = {
      length: 1,
      digest: 'sha-256=:AA==:',
      open: async function* () {
        yield Buffer.from('a');
      },
    };
    const sink = { write: () => {}, restart: () => {} };
    const put = client.call('uploadFile', { params, query: { name: 'a.md' }, bytes });
    expect(await failure(put)).to.include({ code: 'unavailable', retryAfter: 600, attempts: 1 });
    const got = download(client, params, sink);
    expect(await failure(got)).to.include({ code: 'unavailable', retryAfter: 600, attempts: 1 });
  });

  it('waits for a Retry-After that fits into the time which the server was asked to wait', async () => {
    const server = await serve((_, response) =>
      sendJson(response, 429, refusal('rate_limited'), { 'Retry-After': '35' }),
    );
    const clock = new FakeClock((ms) => ms > 9_000 && ms !== 35_000);
    const { client } = clientOf(server.origin, { clock });
    const error = await failure(client.call('readInbox', { query: { wait: 50 } }));
    expect(error).to.include({ code: 'rate_limited', attempts: 3 });
    expect(clock.slept).to.deep.equal([35_000, 35_000]);
  });

  it('waits for any Retry-After when there is no time limit', async () => {
    const server = await serve((_, response, count) =>
      count === 1
        ? sendJson(response, 429, refusal('rate_limited'), { 'Retry-After': '3600' })
        : sendJson(response, 201, created),
    );
    const clock = new FakeClock((ms) => ms < 3_600_000 && ms > 9_000);
    const { client } = clientOf(server.origin, { clock, timeoutMs: 0 });
    expect((await client.call('createBoard', { body: {} })).status).to.equal(201);
    expect(clock.slept).to.deep.equal([3_600_000]);
  });

  it('tells of each retry which request failed, why, and how long it waits', async () => {
    const server = await serve((_, response, count) =>
      count < 3 ? sendJson(response, 503, refusal('unavailable')) : sendJson(response, 201, created),
    );
    const told: unknown[] = [];
    const { client } = clientOf(server.origin, { onRetry: (info) => told.push(info) });
    await client.call('createBoard', { body: {} });
    expect(told).to.deep.equal([
      { attempt: 1, delayMs: 275, reason: 'unavailable' },
      { attempt: 2, delayMs: 525, reason: 'unavailable' },
    ]);
  });

  it('stops waiting for the next attempt when the signal is aborted', async () => {
    const abort = new AbortController();
    const server = await serve((_, response) => sendJson(response, 503, refusal('unavailable')));
    const clock = new FakeClock();
    const { client } = clientOf(server.origin, { clock, onRetry: () => abort.abort(new Error('stop it')) });
    const outcome = await client.call('getMe', { signal: abort.signal }).catch((error: Error) => error);
    expect(outcome).to.have.property('message', 'stop it');
    expect(server.seen).to.have.length(1);
  });

  it('lets only what is passing be tried again', () => {
    const lasting = new ClientError('server_unreachable', '', { delivery: 'not_sent', transient: false });
    const passing = new ClientError('server_unreachable', '', { delivery: 'not_sent', transient: true });
    for (const klass of ['read', ...classes] as const) {
      expect(mayRetry(lasting, klass, 0), klass).to.equal(false);
      expect(mayRetry(passing, klass, 0), klass).to.equal(true);
    }
  });
});
