import { expect } from 'chai';
import { encodeTime } from 'ulid';
import { Client } from '../../src/client/client.ts';
import type { ClientError } from '../../src/client/errors.ts';
import { newIdempotencyKey } from '../../src/client/idempotency.ts';
import { clientOf, closeServers, failure, sendJson, serve } from './support.ts';

const created = { id: 'brd_1', name: 'demo' };

describe('client: the request', () => {
  afterEach(closeServers);

  it('fills the path, leaves out undefined query values and encodes the rest', async () => {
    const server = await serve((_, response) => sendJson(response, 200, {}));
    const { client } = clientOf(server.origin);
    const query = { after: 3, newest: true, from: undefined, task: 'a b&c' };
    await client.call('listMessages', { params: { board: 'x/y?z' }, query });
    expect(server.seen[0]?.url).to.equal('/v1/boards/x%2Fy%3Fz/messages?after=3&newest=true&task=a+b%26c');
  });

  it('refuses path parameters that the URL would swallow, before anything is sent', async () => {
    const server = await serve((_, response) => sendJson(response, 200, {}));
    const { client } = clientOf(server.origin);
    for (const board of ['..', '.', '', '\ud800']) {
      const error = await failure(client.call('getBoard', { params: { board } }));
      expect(error.code, JSON.stringify(board)).to.equal('invalid_request');
      expect(error.attempts).to.equal(0);
    }
    expect(server.seen).to.have.length(0);
  });

  it('sends the token, the user agent and a JSON body', async () => {
    const server = await serve((_, response) => sendJson(response, 201, created));
    const { client } = clientOf(server.origin, { token: async () => 'abh_secret', userAgent: 'service/1.2.3' });
    await client.call('createBoard', { body: { name: 'demo' } });
    const { headers, body } = server.seen[0]!;
    expect(headers.authorization).to.equal('Bearer abh_secret');
    expect(headers['user-agent']).to.equal('service/1.2.3');
    expect(headers['content-type']).to.equal('application/json');
    expect(headers.accept).to.equal('application/json');
    expect(JSON.parse(body)).to.deep.equal({ name: 'demo' });
  });

  it('sends no token with an operation that asks for no credential', async () => {
    const server = await serve((_, response) => sendJson(response, 200, {}));
    let asked = 0;
    const token = async () => {
      asked++;
      return 'abh_secret';
    };
    await clientOf(server.origin, { token }).client.call('getInfo');
    expect(server.seen[0]?.headers).to.not.have.property('authorization');
    expect(asked).to.equal(0);
  });

  it('never quotes a token that cannot be a header', async () => {
    const server = await serve((_, response) => sendJson(response, 200, {}));
    const { client } = clientOf(server.origin, { token: 'abh_hidden\nX: y' });
    const error = await failure(client.call('getMe'));
    expect(error.code).to.equal('key_invalid');
    expect(`${error.message}${error.hint}${error.stack}${String(error.cause)}`).to.not.include('abh_hidden');
    expect(server.seen).to.have.length(0);
  });

  it('gives every write a key and no read one', async () => {
    const server = await serve((seen, response) => sendJson(response, seen.method === 'GET' ? 200 : 201, created));
    const { client } = clientOf(server.origin);
    await client.call('createBoard', { body: {} });
    await client.call('createBoard', { body: {} });
    await client.call('getMe');
    const keys = server.seen.map((seen) => seen.headers['idempotency-key']);
    expect(keys[0]).to.match(/^cli_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(keys[1]).to.match(/^cli_/).and.not.equal(keys[0]);
    expect(keys[2]).to.equal(undefined);
  });

  it('sends the key it is given, and refuses one that is no header value', async () => {
    const server = await serve((_, response) => sendJson(response, 201, created));
    const { client } = clientOf(server.origin);
    await client.call('createBoard', { body: {}, idempotencyKey: 'job 7.post' });
    expect(server.seen[0]?.headers['idempotency-key']).to.equal('job 7.post');
    for (const idempotencyKey of ['', 'ä', 'a\n', 'x'.repeat(129)]) {
      const error = await failure(client.call('createBoard', { body: {}, idempotencyKey }));
      expect(error.code).to.equal('invalid_request');
    }
    expect(server.seen).to.have.length(1);
  });

  it('makes keys of 26 characters that use the whole alphabet and begin with their time', () => {
    const before = encodeTime(Date.now(), 10);
    const keys = Array.from({ length: 200 }, newIdempotencyKey);
    const after = encodeTime(Date.now(), 10);
    expect(new Set(keys).size).to.equal(200);
    for (const key of keys) {
      expect(key).to.match(/^cli_[0-9A-HJKMNP-TV-Z]{26}$/);
      expect(key.slice(4, 14) >= before && key.slice(4, 14) <= after, key).to.equal(true);
    }
    const characters = new Set(keys.join('').replaceAll('cli_', ''));
    expect(characters.size).to.equal(32);
  });

  it('takes only a canonical http or https origin', () => {
    for (const origin of ['http://h/', 'http://h/v1', 'http://u:p@h', 'HTTP://h', 'https://h:443', 'ftp://h', 'h']) {
      expect(() => new Client({ origin }), origin).to.throw(TypeError);
    }
    expect(new Client({ origin: 'https://boards.example.com' }).origin).to.equal('https://boards.example.com');
  });

  it('reports each request without its query, and gives the answer and whether it was repeated', async () => {
    const server = await serve((_, response) =>
      sendJson(response, 201, created, { 'X-Request-Id': 'req_1', 'Idempotent-Replayed': 'true' }),
    );
    const seen: unknown[] = [];
    const { client } = clientOf(server.origin, { onRequest: (info) => seen.push(info) });
    const reply = await client.call('createBoard', { body: {}, query: { secret: 'x' } });
    expect(reply.data).to.deep.equal(created);
    expect(reply).to.include({ status: 201, replayed: true });
    const info = {
      method: 'POST',
      path: '/v1/boards',
      dryRun: false,
      status: 201,
      ms: 0,
      attempt: 1,
      requestId: 'req_1',
    };
    expect(seen).to.deep.equal([info]);
  });

  it('rejects with the reason of a signal that is aborted, and sends nothing more', async () => {
    const abort = new AbortController();
    const server = await serve(() => abort.abort(new Error('stop it')));
    const { client } = clientOf(server.origin);
    const call = client.call('getMe', { signal: abort.signal, maxAttempts: 1 });
    expect(await call.catch((error: ClientError) => error)).to.equal(abort.signal.reason);
    expect(server.seen).to.have.length(1);
  });
});
