import { expect } from 'chai';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { exchange, lines } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const names = Object.keys(operations) as OperationName[];
const rows: OperationRow[] = names.map((name) => operations[name]);
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

forEachDatabase('a path', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
    const { name } = await newBoard(server.dana, { name: 'a-board' });
    await post(server.dana, name, 'hello');
  });
  after(() => server.stop());

  const raw = (method: string, target: string, ...headers: string[]) =>
    exchange(
      server.url,
      lines(
        `${method} ${target} HTTP/1.1`,
        `Host: ${new URL(server.url).host}`,
        `Authorization: Bearer ${server.dana.token}`,
        ...headers,
      ),
    );

  it('nobody offers is the same 404 for every method, without `Allow`', async () => {
    const texts = new Set<string>();
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/nothing',
      '/v2/boards',
      '/v1/boards/',
      '/v1/Boards',
      '/v1/boards//messages',
      '/admin',
    ]) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await raw(method, path);
        expect([answer.status, answer.code, answer.headers.get('allow')], `${method} ${path}`).to.deep.equal([
          404,
          'not_found',
          undefined,
        ]);
        texts.add(answer.text);
      }
    }
    expect(texts.size).to.equal(1);
  });

  it('of an operation is 404 for every other method, with `Allow` naming its own', async () => {
    for (const path of new Set(rows.map((row) => row.path))) {
      const own = rows.filter((row) => row.path === path).map((row) => row.method as string);
      const target = path
        .replace('{board}', 'a-board')
        .replace('{seq}', '3')
        .replace('{message}', 'msg_01K5A0000000000000000000P1');
      for (const method of methods.filter((each) => !own.includes(each))) {
        const answer = await raw(method, target);
        expect([answer.status, answer.code], `${method} ${target}`).to.deep.equal([404, 'not_found']);
        const allowed = (answer.headers.get('allow') ?? '').split(', ');
        expect(allowed.filter((each) => each !== 'HEAD')).to.have.members(own);
        expect(allowed.includes('HEAD')).to.equal(own.includes('GET') && path !== '/v1/stream');
      }
    }
  });

  it('is answered to HEAD like to GET, without a body, but for the stream', async () => {
    for (const target of ['/v1/info', '/v1/me', '/v1/boards', '/v1/boards/a-board/messages', '/v1/boards/nowhere']) {
      const [get, head] = [await raw('GET', target), await raw('HEAD', target)];
      expect(head.status).to.equal(get.status);
      expect(head.text).to.equal('');
      for (const name of ['content-type', 'content-length', 'cache-control']) {
        expect(head.headers.get(name), `${name} of ${target}`).to.equal(get.headers.get(name));
      }
    }
    expect((await raw('HEAD', '/v1/stream?board=a-board')).status).to.equal(404);
  });

  it('never gets a header that lets another site read the answer', async () => {
    const answers = [
      await raw('GET', '/v1/me', 'Origin: https://example.com'),
      await raw('OPTIONS', '/v1/boards', 'Origin: https://example.com', 'Access-Control-Request-Method: POST'),
    ];
    for (const answer of answers) {
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
    }
  });

  it('has the headers of safety on every answer, good or bad', async () => {
    const answers = [
      await raw('GET', '/v1/me'),
      await raw('GET', '/v1/nothing'),
      await raw('POST', '/v1/boards'),
      await raw('GET', '/openapi.json'),
    ];
    for (const { headers } of [...answers, await exchange(server.url, 'nonsense\r\n\r\n')]) {
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).to.equal('same-origin');
      expect(headers.get('cross-origin-opener-policy')).to.equal('same-origin');
      expect(headers.get('x-frame-options')).to.equal('DENY');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-request-id')).to.match(/^req_[0-9A-HJKMNP-TV-Z]{26}$/);
    }
  });

  it('with a part that breaks its pattern is 400, but 404 where a board is named', async () => {
    for (const target of [
      '/v1/messages/msg_x',
      '/v1/messages/x/replies',
      '/v1/boards/a-board/messages/0',
      '/v1/boards/a-board/messages/01',
      '/v1/boards/a-board/messages/x',
    ]) {
      expect((await raw('GET', target)).code, target).to.equal('invalid_request');
    }
    for (const target of [
      '/v1/boards/%E0%A4%A',
      '/v1/boards/%00',
      '/v1/boards/a%2Fb',
      '/v1/boards/A-BOARD',
      '/v1/boards/%F0%9F%8E%89',
    ]) {
      const answer = await raw('GET', target);
      expect([answer.status, answer.code], target).to.deep.equal([404, 'board_not_found']);
    }
    expect((await raw('GET', '/v1/boards/%61-board')).status).to.equal(200);
  });

  it('takes query parameters once each, in range, exactly spelt; unknown ones are ignored', async () => {
    const base = '/v1/boards/a-board/messages';
    for (const query of ['', '?unknown=1&unknown=2', '?limit=1', '?limit=200', '?newest=false', '?after=0&before=1']) {
      expect((await raw('GET', base + query)).status, query).to.equal(200);
    }
    const bad = [
      'limit=0',
      'limit=201',
      'limit=x',
      'limit=1.0',
      'limit=',
      'limit=-1',
      'limit=1&limit=1',
      'after=-1',
      'before=0',
      'newest=1',
      'newest=True',
      'newest=',
      'roots=yes',
      'has=nothing',
      'from=@x',
      'from=a%00',
      'after=99999999999999999',
    ];
    for (const query of bad) expect((await raw('GET', `${base}?${query}`)).code, query).to.equal('invalid_request');
  });

  it('says which whole numbers and types of events it takes', async () => {
    const said = async (query: string) => {
      const { text } = await raw('GET', `/v1/boards/a-board/events?${query}`);
      return JSON.parse(text).error.message;
    };
    for (const limit of ['-1', '0', 'x', '201'])
      expect(await said(`limit=${limit}`)).to.equal('limit: must be a whole number from 1 to 200.');
    expect(await said('after=-1')).to.equal('after: must be a whole number of at least 0.');
    expect(await said('before=0')).to.equal('before: must be a whole number of at least 1.');
    for (const type of ['', 'a.b,', 'a.b,'.repeat(20)])
      expect(await said(`type=${type}`)).to.equal('type: must be 1 to 20 types of events, separated by commas.');
  });

  it('refuses a position in a list that was changed into none', async () => {
    const { dana } = server;
    const params = { board: 'a-board' };
    const ask = { options: ['a', 'b'] };
    for (const n of [1, 2]) {
      await server.person(`reader-${n}`);
      await dana.ok('addBoardPerson', { params, body: { handle: `reader-${n}` } });
      await dana.ok('createTask', { params, body: { title: 'a task' } });
      await put(dana, 'a-board', `${n}.md`, 'text');
      await put(dana, 'a-board', 'both.md', `${n}`, n === 1 ? {} : { base: 1 });
      await post(dana, 'a-board', 'which?', { to: ['@reader-1'], ask });
      await dana.ok('setAllowance', { body: { categories: n === 1 ? ['add_people'] : [] } });
    }
    const files = '/v1/boards/a-board/files';
    const targets = [
      '/v1/people',
      '/v1/tasks',
      '/v1/asks',
      '/v1/me/allowance/revisions',
      files,
      `${files}/both.md/versions`,
    ];
    for (const target of targets) {
      const { next_after } = JSON.parse((await raw('GET', `${target}?limit=1`)).text) as { next_after: string };
      const position = Buffer.from(next_after, 'base64url').toString();
      for (const wrong of ['"\\u0000"', '1.5', '1e300', '9007199254740991']) {
        for (const { 0: part, index } of position.matchAll(/"[^"]*"|\d+/g)) {
          const text = position.slice(0, index) + wrong + position.slice(index + part.length);
          const after = Buffer.from(text).toString('base64url');
          const { status } = await raw('GET', `${target}?limit=1&after=${after}`);
          expect(status, `${target} ${text}`).to.be.oneOf(wrong === '9007199254740991' ? [200, 400] : [400]);
        }
      }
    }
  });
});
