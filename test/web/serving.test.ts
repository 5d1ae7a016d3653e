/** How the server serves the page: its addresses, headers, compression and size. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { exchange, lines } from '../support/raw.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const built = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const index = readFileSync(join(built, 'index.html'), 'utf8');

const addresses = [
  ...['/', '/?board=payments', '/boards', '/join', '/inbox', '/inbox/asks/msg_01', '/inbox/approvals/apr_01'],
  ...[
    '/inbox/pairings/prq_01',
    '/inbox/invites/inv_01',
    '/settings/allowance',
    '/everything',
    '/agents',
    '/search?q=x',
  ],
  '/server',
];

describe('the page as it is served', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());

  const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });

  it('is one document at every address of its screens, asked for anew each time', async () => {
    for (const path of addresses) {
      const answer = await get(path);
      expect(
        [answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')],
        path,
      ).to.deep.equal([200, 'text/html;charset=utf-8', 'no-cache']);
      expect(await answer.text(), path).to.equal(index);
    }
    const head = await fetch(server.url, { method: 'HEAD' });
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
  });

  it('may load its own files and call its own server, nothing else', async () => {
    for (const path of ['/', '/theme.js']) {
      const { headers } = await get(path);
      const policy = Object.fromEntries(
        (headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
          const [name, ...values] = rule.split(' ');
          return [name, values.join(' ')];
        }),
      );
      expect(policy['default-src'], path).to.equal("'none'");
      expect(policy['script-src']).to.equal("'self'");
      expect(policy['style-src']).to.equal("'self'");
      expect(policy['frame-ancestors']).to.equal("'none'");
      expect(policy['require-trusted-types-for']).to.equal("'script'");
      expect(headers.get('content-security-policy')).not.to.match(/unsafe|\*|https?:|data:/);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).to.equal('same-origin');
      expect(headers.get('permissions-policy')).to.match(/camera=\(\).*usb=\(\)/);
      expect(headers.get('x-request-id')).to.match(/^req_/);
    }
    expect(index).not.to.match(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=/);
  });

  it('has files that never change under one name, compressed as the browser takes them', async () => {
    const assets = readdirSync(join(built, 'assets')).filter((name) => /\.(js|css)$/.test(name));
    for (const name of assets) {
      const plain = readFileSync(join(built, 'assets', name));
      for (const encoding of ['br', 'gzip', 'identity']) {
        const answer = await get(`/assets/${name}`, { 'Accept-Encoding': encoding });
        expect(answer.headers.get('cache-control'), name).to.equal('public, max-age=31536000, immutable');
        expect(answer.headers.get('content-encoding') ?? 'identity', name).to.equal(encoding);
        expect(Buffer.from(await answer.arrayBuffer()).equals(plain), name).to.equal(true);
      }
    }
    const first = await get('/');
    const again = await get('/', { 'If-None-Match': first.headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).to.deep.equal([304, '']);
  });

  it('leaves the API, other paths and other methods alone', async () => {
    expect((await get('/v1/info')).headers.get('content-type')).to.equal('application/json; charset=utf-8');
    const paths = ['/nowhere', '/inbox/nothing/x', '/assets/none.js', '/..%2f..%2fpackage.json', '/.git/config'];
    for (const path of paths) {
      const answer = await get(path);
      const { error } = (await answer.json()) as { error: { code: string } };
      expect([answer.status, error.code], path).to.deep.equal([404, 'not_found']);
      expect(answer.headers.get('content-security-policy'), path).to.equal(null);
      expect(answer.headers.get('cache-control'), path).to.equal('no-store');
    }
    expect((await fetch(server.url, { method: 'POST' })).status).to.equal(404);
    const climbing = lines('GET /../../package.json HTTP/1.1', `Host: ${new URL(server.url).host}`);
    expect((await exchange(server.url, climbing)).status).to.equal(404);
  });

  it('needs at most 80 KB of script and 20 KB of style at first', () => {
    const size = (pattern: RegExp): number =>
      [...index.matchAll(pattern)]
        .map(([, path]) => gzipSync(readFileSync(join(built, path!)), { level: 9 }).length)
        .reduce((sum, bytes) => sum + bytes, 0);
    expect(size(/(?:src|href)="\/([^"]+\.js)"/g)).to.be.within(1, 80 * 1024);
    expect(size(/href="\/([^"]+\.css)"/g)).to.be.within(1, 20 * 1024);
  });
});
