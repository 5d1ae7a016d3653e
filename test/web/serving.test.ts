/** How the server serves the page: its addresses, headers, compression and size. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import Koa from 'koa';
import type { AppOptions, State } from '../../src/server/http/context.ts';
import { servePage } from '../../src/server/http/page.ts';
import type { InboxKind, Place } from '../../src/web/state/route.ts';
import { exchange, lines } from '../support/raw.ts';
import type { TestServer } from '../support/server.ts';
import { startPageServer } from './support/server.ts';

const built = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const index = readFileSync(join(built, 'index.html'), 'utf8');

/** An id of each kind of item of the inbox, as the page names it in the address. */
const items: Record<InboxKind, string> = {
  asks: 'msg_01',
  approvals: 'apr_01',
  pairings: 'prq_01',
  agents: 'agent_braked-mem_01',
  invites: 'inv_01',
};
const places: Record<Exclude<Place['screen'], 'nowhere'>, Place[]> = {
  boards: [{ screen: 'boards' }],
  board: [{ screen: 'board', board: 'payments', tab: 'talk' }],
  inbox: [
    { screen: 'inbox' },
    ...(Object.keys(items) as InboxKind[]).map((kind): Place => ({ screen: 'inbox', kind, id: items[kind] })),
  ],
  everything: [{ screen: 'everything' }],
  agents: [{ screen: 'agents' }],
  server: [{ screen: 'server' }],
  allowance: [{ screen: 'allowance' }],
  join: [{ screen: 'join', invite: 'abi_01' }],
  search: [{ screen: 'search', q: 'x' }],
};

/** The addresses that the page makes of them, and an older one of the boards. */
async function screenAddresses(): Promise<string[]> {
  // The page reads its address as it is loaded.
  Object.assign(globalThis, { location: new URL('http://localhost/') });
  try {
    const { hrefOf } = await import('../../src/web/state/route.ts');
    return ['/boards', ...Object.values(places).flat().map(hrefOf)];
  } finally {
    Reflect.deleteProperty(globalThis, 'location');
  }
}

describe('the page as it is served', () => {
  let server: TestServer;
  before(async () => {
    server = await startPageServer();
  });
  after(() => server.stop());

  const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });

  it('is one document at every address of its screens, asked for anew each time', async () => {
    for (const path of await screenAddresses()) {
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
      // Pictures written into a previewed file are its own bytes.
      expect(policy['img-src']).to.equal("'self' blob: data:");
      expect(headers.get('content-security-policy')?.replace('blob: data:', '')).not.to.match(
        /unsafe|\*|https?:|data:/,
      );
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

  it('is sent whole whatever part of it is asked for', async () => {
    const name = readdirSync(join(built, 'assets')).find((each) => /^board-screen-[^.]+\.js$/.test(each));
    const plain = readFileSync(join(built, 'assets', name!));
    for (const range of ['bytes=5-2', 'bytes=-5', 'bytes=0-1,4-5']) {
      const answer = await get(`/assets/${name}`, { Range: range });
      expect([answer.status, (await answer.arrayBuffer()).byteLength], range).to.deep.equal([200, plain.length]);
    }
  });

  it('stays as it was when its server started, whatever becomes of its files', async () => {
    const page = mkdtempSync(join(tmpdir(), 'board-service-page-'));
    mkdirSync(join(page, 'assets'));
    writeFileSync(join(page, 'index.html'), 'old');
    writeFileSync(join(page, 'assets', 'old.js'), 'old()');
    const app = new Koa<State>();
    app.use(({ state }, next) => {
      Object.assign(state, { requestId: 'req_1', standing: [] });
      return next();
    });
    app.use(servePage({ page } as AppOptions));
    const other = app.listen(0, '127.0.0.1');
    await once(other, 'listening');
    rmSync(join(page, 'assets'), { recursive: true });
    writeFileSync(join(page, 'index.html'), 'a longer one');
    const { port } = other.address() as AddressInfo;
    for (const [path, text] of [
      ['/', 'old'],
      ['/assets/old.js', 'old()'],
    ]) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      expect([answer.status, await answer.text()], path).to.deep.equal([200, text]);
    }
    other.closeAllConnections();
    other.close();
    rmSync(page, { recursive: true });
  });

  it('needs at most 80 KB of script and 20 KB of style until a conversation can be read', () => {
    const folder = join(built, 'assets');
    const needed = new Set<string>();
    const need = (name: string): void => {
      if (needed.has(name)) return;
      needed.add(name);
      if (!name.endsWith('.js')) return;
      const text = readFileSync(join(folder, name), 'utf8');
      for (const [, other] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) need(other!);
    };
    for (const [, name] of index.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)) need(name!);
    for (const name of readdirSync(folder)) if (/^board-screen-[^.]+\.(js|css)$/.test(name)) need(name);
    const size = (ending: string): number =>
      [...needed]
        .filter((name) => name.endsWith(ending))
        .reduce((sum, name) => sum + statSync(join(folder, `${name}.br`)).size, 0);
    const script = size('.js');
    const style = size('.css');
    console.log(`        bytes left: ${80 * 1024 - script} of script, ${20 * 1024 - style} of style`);
    expect(script).to.be.within(60 * 1024, 80 * 1024);
    expect(style).to.be.within(1, 20 * 1024);
  });
});
