/** The page: its link for a person, and without a sign-in for an agent. No browser is ever started here but a script. */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type BrowserHost, browsers, openInBrowser, openPrivately, thisBrowserHost } from '../../src/local/browser.ts';
import { Home, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

/** Makes a program believe that somebody sits at its terminal. */
const AT_TERMINAL =
  '--import data:text/javascript,process.stdin.isTTY=process.stderr.isTTY=true;process.stderr.getWindowSize=()=>[80,24]';

describe('service open', () => {
  const home = homeWithBoard();
  let browser: string;
  let opened: string;
  before(() => {
    browser = join(home().dir, 'browser');
    opened = join(home().dir, 'opened');
    writeFileSync(browser, `#!/bin/sh\nprintf '%s\\n' "$1" >> ${opened}; env >> ${opened}.env\n`);
    chmodSync(browser, 0o755);
  });

  const openedLast = (): string => readFileSync(opened, 'utf8').trim().split('\n').at(-1) ?? '';
  const preview = async (url: string) => {
    const { origin, hash } = new URL(url);
    const code = new URLSearchParams(hash.slice(1)).get('code');
    const headers = { origin, 'content-type': 'application/json' };
    const body = JSON.stringify({ code });
    return fetch(`${origin}/v1/login-codes/preview`, { method: 'POST', headers, body });
  };

  it('prints a link that signs its person in, and where the page is without it', async () => {
    const me = (await home().json(['whoami'])).me;
    const record = await home().json(['open', '--print', '--board', 'demo']);
    expect(record).to.include({ opened: false });
    expect(record.url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/#code=abl_[A-Za-z0-9_-]{43}&board=demo$/);
    expect(record.ui_url).to.equal(`${new URL(record.url).origin}/?board=demo`);
    expect(Date.parse(record.expires_at) - Date.now()).to.be.within(40_000, 61_000);
    const shown = (await (await preview(record.url)).json()) as { person: { handle: string } };
    expect(shown.person.handle).to.equal(me.name);
  });

  it('opens nothing without a terminal: the link is printed, alone on its line', async () => {
    const env = { BROWSER: browser };
    const { stdout, code } = await home().run(['open'], { env });
    expect(code).to.equal(0);
    const [first, link = '', ...rest] = stdout.split('\n');
    expect(first).to.match(/^The first person to open this, within a minute, is signed in as [a-z0-9-]+:$/);
    expect((await preview(link)).status).to.equal(200);
    expect(rest).to.deep.equal(['']);
    expect(existsSync(opened)).to.equal(false);
  });

  it('opens the link at a terminal with BROWSER, which leads there from a file, and prints no code', async () => {
    const env = { BROWSER: browser, NODE_OPTIONS: AT_TERMINAL };
    const { stdout, code } = await home().run(['open', '-b', 'demo'], { env });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Opened http:\/\/127\.0\.0\.1:\d+\/\?board=demo in the browser\.\n$/);
    await until('the browser has the link', () => existsSync(opened));
    // Everybody on the machine sees with which words a program was started.
    expect(openedLast()).to.match(/^file:\/\/\S+\.html$/);
    const page = fileURLToPath(openedLast());
    expect(statSync(page).mode & 0o777).to.equal(0o600);
    const link = linkIn(readFileSync(page, 'utf8'));
    expect(link).to.match(/#code=abl_[A-Za-z0-9_-]{43}&board=demo$/);
    expect((await preview(link)).status).to.equal(200);
    const record = await home().json(['open'], { env });
    expect(record).to.include({ opened: true });
    expect(record.url).to.match(/\/#code=abl_[A-Za-z0-9_-]{43}$/);
  });

  it('opens nothing with --print, --no-input or in CI, and prints the link where no browser starts', async () => {
    const before = readFileSync(opened, 'utf8');
    const env = { BROWSER: browser, NODE_OPTIONS: AT_TERMINAL };
    expect(await home().json(['open', '--print'], { env })).to.include({ opened: false });
    expect(await home().json(['open', '--no-input'], { env })).to.include({ opened: false });
    expect(await home().json(['open'], { env: { ...env, CI: 'true' } })).to.include({ opened: false });
    expect(await home().json(['open'], { env: { ...env, BROWSER: '/no/such/program' } })).to.include({ opened: false });
    expect(await home().json(['open'], { env: { ...env, BROWSER: '/bin/false' } })).to.include({ opened: false });
    expect(readFileSync(opened, 'utf8')).to.equal(before);
  });

  it('gives an agent the page without a code: its seat’s board, and no key is read', async () => {
    await home().run(['agent', 'create', 'codex', '--board', 'demo']);
    const env = { BROWSER: browser };
    const record = await home().json(['open', '--as', 'codex'], { env });
    expect(record).to.deep.include({ url: null, expires_at: null, opened: true });
    expect(record.ui_url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/\?board=demo$/);
    await until('the browser has the page', () => openedLast() === record.ui_url);
    const { stdout } = await home().run(['open'], { env: { ...env, SERVICE_AGENT: 'codex' } });
    expect(stdout).to.match(/^Opened \S+\?board=demo in the browser; sign in there if it asks\.\n$/);

    const away = home().path('data', 'local-key');
    const key = readFileSync(away);
    writeFileSync(away, 'unreadable');
    const inSession = await home().json(['open', '--print'], { env: { SERVICE_SESSION: 'claude-code:x' } });
    writeFileSync(away, key);
    expect(inSession).to.include({ url: null, opened: false });
  });

  it('tells an agent where no browser can be opened, with the page’s address', async () => {
    const refused = await home().run(['open', '--as', 'codex', '--json']);
    const { error } = JSON.parse(refused.stdout);
    expect([refused.code, error.code]).to.deep.equal([1, 'browser_unavailable']);
    expect(error.hint).to.include('/?board=demo').and.to.include('service open --print');
    const { stdout, code } = await home().run(['open', '--as', 'codex', '--print']);
    expect([stdout, code]).to.deep.equal([`${error.details.ui_url}\n`, 0]);
  });

  it('makes another code when the answer to the first was lost', async () => {
    let asked = 0;
    const server = createServer((req, res) => {
      if (req.url !== '/v1/login-codes') return void res.writeHead(404).end('{}');
      if (asked++ === 0) return void req.socket.destroy();
      const body = { code: `abl_${'x'.repeat(43)}`, expires_at: '2030-01-01T00:00:00.000Z' };
      return void res.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const fresh = new Home();
    try {
      const env = { SERVICE_TOKEN: `abh_${'k'.repeat(43)}`, SERVICE_SERVER: origin };
      const record = await fresh.json(['open', '--print'], { env });
      expect(record.url).to.equal(`${origin}/#code=abl_${'x'.repeat(43)}`);
      expect(asked).to.equal(2);
    } finally {
      await fresh.close();
      server.close();
    }
  });
});

/** Where a page leads on to by itself. */
const linkIn = (page: string): string =>
  (/<meta http-equiv="refresh" content="0; *url=([^"]+)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&');

describe('service open in a sandbox', () => {
  it('starts no server in there', async () => {
    const fresh = new Home();
    try {
      const env = { CODEX_THREAD_ID: 'one', CODEX_SANDBOX: 'seatbelt' };
      const { code, stdout } = await fresh.run(['open', '--print', '--json'], { env });
      expect([code, JSON.parse(stdout).error?.code]).to.deep.equal([8, 'server_not_running']);
      expect(fresh.serverPid()).to.equal(null);
    } finally {
      await fresh.close();
    }
  });
});

describe('a link that is for one person', () => {
  const url = 'https://team.example.com/#code=abl_x&board="><script>';
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'board-open-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const desk = (BROWSER: string): BrowserHost => ({
    ...thisBrowserHost({ BROWSER, HOME: dir, PATH: '/bin' }),
    platform: 'linux',
  });
  const pages = () => readdirSync(dir).filter((name) => name.endsWith('.html'));

  it('stands in a file that is gone after a while', async () => {
    expect(await openPrivately(url, desk('/bin/true'), 1_000)).to.equal(true);
    const [page] = pages();
    const text = readFileSync(join(dir, page!), 'utf8');
    expect(linkIn(text).replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>')).to.equal(url);
    expect(text).to.not.include('<script');
    await until('the file is gone', () => pages().length === 0);
  });

  it('leaves no file where no browser takes it, or none can be written', async () => {
    expect(await openPrivately(url, desk('/bin/false'), 60_000)).to.equal(false);
    expect(await openPrivately(url, desk('none'), 60_000)).to.equal(false);
    expect(pages()).to.deep.equal([]);
    const nowhere = { ...desk('/bin/true'), env: { BROWSER: '/bin/true', HOME: join(dir, 'none') } };
    expect(await openPrivately(url, nowhere, 60_000)).to.equal(false);
  });

  it('leaves none of an earlier time', async () => {
    const old = join(dir, `service-open-${'a'.repeat(32)}.html`);
    writeFileSync(old, url);
    utimesSync(old, new Date(0), new Date(0));
    expect(await openPrivately(url, desk('/bin/true'), 1_000)).to.equal(true);
    expect(existsSync(old)).to.equal(false);
  });
});

describe('the browser of this machine', () => {
  const url = 'http://127.0.0.1:7400/#code=abl_x';

  it('is BROWSER, with its words and where the address goes, else the platform’s own', () => {
    const of = (env: Record<string, string>, platform: NodeJS.Platform = 'linux') => browsers(url, { env, platform });
    expect(of({ BROWSER: 'firefox --new-tab %s:w3m' })).to.deep.equal([
      ['firefox', '--new-tab', url],
      ['w3m', url],
    ]);
    expect(of({ BROWSER: 'C:\\b.exe' }, 'win32')).to.deep.equal([['C:\\b.exe', url]]);
    expect(of({ DISPLAY: ':0' })).to.deep.equal([['xdg-open', url]]);
    expect(of({}, 'darwin')).to.deep.equal([['/usr/bin/open', url]]);
    expect(of({}, 'win32')[0]?.[0]).to.equal('rundll32.exe');
  });

  it('is not opened where nobody would see it', () => {
    const env = { DISPLAY: ':0', BROWSER: 'firefox' };
    expect(browsers(url, { env: { ...env, CI: '1' }, platform: 'linux' })).to.deep.equal([]);
    expect(browsers(url, { env: { ...env, BROWSER: 'none' }, platform: 'linux' })).to.deep.equal([]);
    expect(browsers(url, { env: {}, platform: 'linux' })).to.deep.equal([]);
    expect(browsers(url, { env: { SSH_CONNECTION: 'x' }, platform: 'darwin' })).to.deep.equal([]);
  });

  it('is the first that starts, and gets no credential of the environment', async () => {
    const { spawn } = await import('node:child_process');
    const tried: { command: string; env: NodeJS.ProcessEnv | undefined }[] = [];
    const env = { BROWSER: '/no/such:/bin/false:/bin/true:/bin/never', SERVICE_TOKEN: 'abh_x', PATH: '/bin' };
    const desk = {
      env,
      platform: 'linux' as const,
      spawn(command: string, args: string[], options: Parameters<typeof spawn>[2]) {
        tried.push({ command, env: options.env });
        return spawn(command, args, options);
      },
    };
    expect(await openInBrowser(url, desk)).to.equal(true);
    expect(tried.map(({ command }) => command)).to.deep.equal(['/no/such', '/bin/false', '/bin/true']);
    expect(tried.at(-1)?.env).to.deep.equal({ BROWSER: env.BROWSER, PATH: '/bin' });
    expect(await openInBrowser(url, { ...desk, env: { BROWSER: '/no/such' } })).to.equal(false);
  });
});
