import { expect } from 'chai';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { operations } from '../../../src/contract/operations.ts';
import { newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { exchange, lines } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const MIB = 1_048_576;

forEachDatabase('a body', (engine) => {
  let server: TestServer;
  let path: string;
  before(async () => {
    server = await startTestServer(engine);
    path = `/v1/boards/${(await newBoard(server.dana)).name}/messages`;
  });
  after(() => server.stop());

  interface Sent {
    headers?: string[];
    type?: string | null;
    length?: number | null;
    /** Default: where messages are posted. */
    path?: string;
  }

  /** Posts bytes as they are. */
  function send(body: string | Buffer, { headers = [], type = 'application/json', length, path: to }: Sent = {}) {
    const bytes = Buffer.from(body as string);
    const head = lines(
      `POST ${to ?? path} HTTP/1.1`,
      `Host: ${new URL(server.url).host}`,
      `Origin: ${server.url}`,
      `Authorization: Bearer ${server.dana.token}`,
      ...(type === null ? [] : [`Content-Type: ${type}`]),
      ...(length === null ? [] : [`Content-Length: ${length ?? bytes.length}`]),
      ...headers,
    );
    return exchange(server.url, Buffer.concat([Buffer.from(head), bytes]));
  }

  const good = JSON.stringify({ body: 'hi' });

  it('is JSON in UTF-8, said so in its content type', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
      expect((await send(good, { type })).status, type).to.equal(201);
    }
    const others = [
      'text/plain',
      'application/json; charset=latin1',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'application/octet-stream',
      '',
    ];
    for (const type of [...others, null]) {
      const answer = await send(good, { type });
      expect([answer.status, answer.code], String(type)).to.deep.equal([415, 'unsupported_media_type']);
    }
    for (const second of ['application/json', 'text/plain']) {
      const answer = await send(good, { headers: [`content-type: ${second}`] });
      expect([answer.status, answer.code], `and ${second}`).to.deep.equal([415, 'unsupported_media_type']);
    }
  });

  it('names each field once, however deep', async () => {
    const twice = [
      '{"body":"a","body":"a"}',
      '{"body":"a","body" \n: "b"}',
      '{"body":"a","b\\u006fdy":"b"}',
      '{"body":"a","ask":{"options":["a"],"blocking":true,"options":[]}}',
      '{"body":"a","files":[{"file":"a.md"},{"file":"a.md","version":1,"version":2}]}',
    ];
    for (const body of twice) {
      const answer = await send(body);
      expect([answer.status, answer.code], body).to.deep.equal([400, 'invalid_request']);
      expect(answer.text).to.include('more than once');
    }
    const texts = ['\\"body\\":', 'a\\\\', '\\\\\\":\\"', '\\u0022:', '{:}'];
    for (const text of texts)
      expect((await send(`{ "body" :\t"${text}" , "to" : [ "all" ] }`)).status, text).to.equal(201);
  });

  it('that is not JSON, or not UTF-8, or no object, is 400', async () => {
    const invalid = Buffer.concat([Buffer.from('{"body":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    const bodies = ['{', '{"body":"a",}', '\ufeff{"body":"a"}', 'null', '[]', '"body"', '7', invalid];
    for (const body of bodies) {
      const answer = await send(body);
      expect([answer.status, answer.code], String(body)).to.deep.equal([400, 'invalid_request']);
    }
  });

  it('holds no NUL and no half of a surrogate pair, in any string and in any name', async () => {
    expect((await send('{"body":"\\ud83c\\udf89"}')).status).to.equal(201);
    for (const text of ['\\u0000', '\\ud83c', '\\udf89', '\\udf89\\ud83c']) {
      for (const body of [`{"body":"a${text}"}`, `{"body":"a","to":["${text}"]}`, `{"body":"a","x${text}":1}`]) {
        expect((await send(body)).code, body).to.equal('invalid_request');
      }
    }
  });

  it('is nested at most 32 levels deep', async () => {
    const nested = (levels: number) => `{"body":"a","x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const problem = async (levels: number) =>
      (JSON.parse((await send(nested(levels))).text) as { error: { details: { problem: string } } }).error.details
        .problem;
    expect(await problem(32)).to.match(/^is not known here; known are body, to, /);
    expect(await problem(33)).to.include('32 levels');
    expect(await problem(100_000)).to.include('32 levels');
  });

  it('has no field that is not known, and says which', async () => {
    for (const [body, field] of [
      ['{"body":"a","from":"me"}', 'from'],
      ['{"body":"a","__proto__":{"urgent":true}}', '__proto__'],
      ['{"body":"a","constructor":1}', 'constructor'],
      ['{"body":7}', 'body'],
      ['{"body":"a","to":[7]}', 'to.0'],
      ['{"body":"a","urgent":"true"}', 'urgent'],
      ['{"body":"a","urgent":null}', 'urgent'],
      ['{}', 'body'],
    ]) {
      const answer = await send(body as string);
      expect(answer.code, body).to.equal('invalid_request');
      const { details } = (JSON.parse(answer.text) as { error: { details: { field: string; problem: string } } }).error;
      expect(details.field, body).to.equal(field);
      expect(details.problem).to.be.a('string');
    }
  });

  it('that is empty counts as `{}`', async () => {
    for (const type of ['application/json', null]) {
      expect((await send('', { type })).code).to.equal('invalid_request');
      expect((await send('', { type, length: null })).code).to.equal('invalid_request');
    }
  });

  it('has at most 1 MiB, declared or counted; one more byte is 413 and nothing is read on', async () => {
    const filled = (size: number) => `{"body":"a","x":"${'y'.repeat(size - 19)}"}`;
    const over = await send(filled(MIB + 1));
    expect([over.status, over.code]).to.deep.equal([413, 'request_too_large']);
    const exact = await send(filled(MIB));
    expect([exact.status, exact.code]).to.deep.equal([400, 'invalid_request']);
    const chunk = `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`;
    const counted = await send(chunk.repeat(17), { length: null, headers: ['Transfer-Encoding: chunked'] });
    expect([counted.status, counted.code]).to.deep.equal([413, 'request_too_large']);
    const declared = await send('', { length: MIB + 1 });
    expect([declared.status, declared.code]).to.deep.equal([413, 'request_too_large']);
  });

  it('has at most 16 KiB where nobody signs in, declared, counted or sent at once', async () => {
    const rows = Object.values(operations as Record<string, OperationRow>);
    const open = rows.filter(({ method, credentials }) => method === 'POST' && credentials.length === 0);
    expect(open.length).to.be.at.least(6);
    for (const { path } of open) {
      const filled = (size: number) => `{"x":"${'y'.repeat(size - 8)}"}`;
      const declared = await send(filled(16_385), { path });
      expect([declared.status, declared.code], path).to.deep.equal([413, 'request_too_large']);
      expect(declared.text, path).to.include('16384 bytes');
      const chunk = `4001\r\n${filled(16_385)}\r\n0\r\n\r\n`;
      const counted = await send(chunk, { path, length: null, headers: ['Transfer-Encoding: chunked'] });
      expect([counted.status, counted.code], path).to.deep.equal([413, 'request_too_large']);
      expect((await send(filled(16_384), { path })).status, path).to.not.equal(413);
    }
  });

  it('with a field that is not known is refused for that one, whatever else is wrong', async () => {
    const { status, text } = await send('{"to":7,"nobody":1,"nothing":2}');
    expect(status).to.equal(400);
    const { field, problem } = (JSON.parse(text) as { error: { details: Record<string, string> } }).error.details;
    expect(field).to.equal('nobody');
    expect(problem).to.match(/^is not known here; known are body, to, /);
  });

  it('is not read of who has no credential', async () => {
    const answer = await exchange(
      server.url,
      lines(
        `POST ${path} HTTP/1.1`,
        `Host: ${new URL(server.url).host}`,
        'Content-Type: text/plain',
        'Content-Length: 100000',
      ),
    );
    expect([answer.status, answer.code]).to.deep.equal([401, 'unauthorized']);
    expect(answer.headers.get('www-authenticate')).to.equal('Bearer realm="service"');
    expect(answer.headers.get('connection')).to.equal('close');
  });

  it('is never quoted in an error or a log line', async () => {
    const secret = 'correct horse battery staple';
    for (const body of [secret, `{"body":7,"to":["${secret}"]}`, `{"body":"${secret}\\u0000"}`]) {
      const answer = await send(body);
      expect(answer.status).to.equal(400);
      expect(answer.text).not.to.include(secret);
    }
    await send(JSON.stringify({ body: secret }));
    expect(server.log.length).to.be.greaterThan(0);
    expect(server.log.join('')).not.to.include(secret);
    expect(server.log.join('')).not.to.include(server.dana.token ?? '');
  });
});

forEachDatabase('the head of a request', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const ask = (target: string, ...headers: string[]) =>
    exchange(server.url, lines(`GET ${target} HTTP/1.1`, `Host: ${new URL(server.url).host}`, ...headers));

  it('has a URL of at most 8 KiB', async () => {
    const url = (size: number) => `/v1/info?${'x'.repeat(size - 9)}`;
    expect((await ask(url(8_192))).status).to.equal(200);
    const over = await ask(url(8_193));
    expect([over.status, over.code]).to.deep.equal([400, 'invalid_request']);
  });

  it('has headers of at most 16 KiB in all', async () => {
    expect((await ask('/v1/info', `X-Pad: ${'x'.repeat(15_000)}`)).status).to.equal(200);
    for (const size of [20_480, 100_000]) {
      const over = await ask('/v1/info', `X-Pad: ${'x'.repeat(size)}`);
      expect([over.status, over.code], String(size)).to.deep.equal([400, 'invalid_request']);
    }
  });

  it('has one credential: a second one is refused, also the same', async () => {
    const one = `Authorization: Bearer ${server.dana.token}`;
    expect((await ask('/v1/me', one)).status).to.equal(200);
    expect((await ask('/v1/me', one, one)).status).to.equal(401);
    expect((await ask('/v1/me', one, 'Authorization: Basic eDp5')).status).to.equal(401);
  });

  it('that is not HTTP gets an error in the usual shape', async () => {
    for (const bytes of ['nonsense\r\n\r\n', 'GET /v1/info HTTP/9.9\r\n\r\n', 'GET / HTTP/1.1\r\nbad header\r\n\r\n']) {
      const answer = await exchange(server.url, bytes);
      expect([answer.status, answer.code], bytes).to.deep.equal([400, 'invalid_request']);
    }
  });
});
