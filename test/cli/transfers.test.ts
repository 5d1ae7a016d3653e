/** Uploads and downloads at a real terminal: how far they are is shown and taken away again, and Ctrl-C leaves nothing half done. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { Output } from '../../src/cli/output.ts';
import { lineOf } from '../../src/cli/terminal/progress.ts';
import { localFile, putFile } from '../../src/commands/file/lib/put.ts';
import type { Files } from '../../src/commands/file/lib/scope.ts';
import { clientOf, closeServers, refusal, sendJson, serve } from '../client/support.ts';
import { collect, type Home, until } from './support/home.ts';
import { type Hosted, hosted } from './support/hosted.ts';
import { LossyNetwork } from './support/lossy.ts';
import { SlowNetwork } from './support/slow.ts';

const MB = 1_000_000;
const BAR = /[#-]{24} {2}\d+% {2}[\d.]+ [kM]B of 40\.0 MB {2}[\d.]+ [kM]B\/s {2}\d+s left/;

describe('transfers at a terminal', () => {
  let at: Hosted;
  let home: Home;
  let network: SlowNetwork;
  let env: Record<string, string>;
  const big = Buffer.alloc(40 * MB, 'forty megabytes of text\n');
  before(async () => {
    at = await hosted();
    home = at.home;
    await home.json(['board', 'create', 'docs']);
    network = await SlowNetwork.to(at.url);
    env = {
      SERVICE_TOKEN: at.server.dana.token ?? '',
      SERVICE_SERVER: network.url,
      SERVICE_BOARD: 'docs',
      TERM: 'xterm',
    };
    writeFileSync(join(home.work, 'big.txt'), big);
  });
  beforeEach(() => {
    network.speed = Number.POSITIVE_INFINITY;
  });
  after(async () => {
    network.close();
    await at.close();
  });

  /** A command on a pseudo terminal of its own. */
  function terminal(command: string) {
    const script = `stty cols 100; ${command}`;
    const child = home.startShell(`exec script -qec '${script}' /dev/null`, { stdin: 'pipe', env });
    const printed = collect(child);
    return {
      child,
      shown: () => printed().stdout,
      type: (text: string) => child.stdin?.write(text),
      async ended(): Promise<{ code: number | null; shown: string }> {
        await until('it ends', () => child.exitCode !== null);
        return { code: child.exitCode, shown: printed().stdout };
      },
    };
  }

  /** What is on the last line that was drawn again and again, once all is done. */
  const leftOnLine = (shown: string): string => (shown.split('\r\x1b[K').at(-1) ?? '').trim();

  it('show an upload and a download, on one line that is gone at the end', async () => {
    network.speed = 25 * MB;
    const put = await terminal('service file put big.txt').ended();
    expect(put.code).to.equal(0);
    expect(put.shown).to.match(BAR);
    expect(leftOnLine(put.shown)).to.equal('Saved big.txt v1 on docs');
    const get = await terminal('service file get big.txt copy.txt').ended();
    expect(get.code).to.equal(0);
    expect(get.shown).to.match(BAR);
    expect(leftOnLine(get.shown)).to.match(/^big\.txt v1 \(40\.0 MB\) is now \.\/copy\.txt\./);
    expect(readFileSync(join(home.work, 'copy.txt')).equals(big)).to.equal(true);
    const updates = get.shown.split('\r\x1b[K').length - 2;
    expect(updates).to.be.within(2, 60);
    for (const line of get.shown.split('\r\x1b[K')) expect(line.split('\n', 1)[0]?.length).to.be.at.most(200);
  });

  it('show nothing to programs: with --json, with -q, or in a pipe', async () => {
    network.speed = 25 * MB;
    for (const command of [
      'service file get big.txt json.txt --json',
      'service file get big.txt quiet.txt -q',
      'service file get big.txt - 2>&1 >/dev/null | cat',
    ]) {
      const { code, shown } = await terminal(command).ended();
      expect(code, command).to.equal(0);
      expect(shown, command).not.to.match(/\d%|\x1b/);
    }
    const piped = await home.run(['file', 'get', 'big.txt', 'piped.txt'], { env });
    expect([piped.code, piped.stderr]).to.deep.equal([0, '']);
  });

  it('keep nothing of a download that was changed on the way', async () => {
    const changing = await LossyNetwork.to(at.url);
    changing.decide = ({ path }) => (path.includes('/versions/') ? 'spoil' : 'pass');
    writeFileSync(join(home.work, 'few.txt'), 'as it was');
    await home.json(['file', 'put', 'few.txt'], { env });
    const through = { env: { ...env, SERVICE_SERVER: changing.url } };
    const got = await home.run(['file', 'get', 'few.txt', 'changed.txt', '--json'], through);
    changing.close();
    expect([got.code, JSON.parse(got.stdout).error.code]).to.deep.equal([1, 'checksum_mismatch']);
    expect(readdirSync(home.work).filter((name) => name.startsWith('changed'))).to.deep.equal([]);
  });

  it('keep all of a newer version and nothing else where the connection to an older one broke', async () => {
    const breaking = await LossyNetwork.to(at.url);
    const write = async (text: string) => {
      writeFileSync(join(home.work, 'newer.txt'), text);
      await home.json(['file', 'put', 'newer.txt'], { env });
    };
    await write('the older version, of which one half arrives');
    let reads = 0;
    breaking.decide = async ({ path }) => {
      if (!path.includes('/versions/')) return 'pass';
      if (++reads === 1) return 'halve';
      await write('the newer version');
      return 'pass';
    };
    const through = { env: { ...env, SERVICE_SERVER: breaking.url } };
    const got = await home.json(['file', 'get', 'newer.txt', 'got.txt'], through);
    breaking.close();
    expect([reads, got.version, got.size]).to.deep.equal([2, 2, 17]);
    expect(readFileSync(join(home.work, 'got.txt'), 'utf8')).to.equal('the newer version');
  });

  it('leave a file as it is that was changed or made here while one came', async () => {
    const busy = await LossyNetwork.to(at.url);
    writeFileSync(join(home.work, 'edited.txt'), 'put');
    await home.json(['file', 'put', 'edited.txt'], { env });
    const through = { env: { ...env, SERVICE_SERVER: busy.url } };
    for (const [to, why] of [
      ['edited.txt', 'was changed since it was got'],
      ['made.txt', 'is there already'],
    ] as const) {
      busy.decide = ({ path }) => {
        if (path.includes('/versions/')) writeFileSync(join(home.work, to), 'edited');
        return 'pass';
      };
      const got = await home.run(['file', 'get', 'edited.txt', to, '--json'], through);
      const { code, message } = JSON.parse(got.stdout).error;
      expect([code, message]).to.deep.equal(['local_file_exists', `${to} ${why}, so it was left as it is.`]);
      expect(readFileSync(join(home.work, to), 'utf8')).to.equal('edited');
      expect(readdirSync(home.work).filter((name) => name.includes('.part-'))).to.deep.equal([]);
    }
    busy.close();
  });

  it('write a newer version through a link, and leave the rights that the file has', async () => {
    const there = join(home.work, 'private.txt');
    const link = join(home.work, 'link.txt');
    symlinkSync('private.txt', link);
    writeFileSync(there, 'one');
    await home.json(['file', 'put', 'link.txt'], { env });
    // What a new file would not get is kept as well.
    for (const [text, rights] of [
      ['two', 0o600],
      ['three', 0o666],
    ] as const) {
      chmodSync(there, rights);
      await home.shell(`printf ${text} | service file put link.txt - --replace`, { env });
      await home.shell('umask 022; service file get link.txt link.txt', { env });
      expect([readFileSync(there, 'utf8'), lstatSync(link).isSymbolicLink()]).to.deep.equal([text, true]);
      expect((statSync(there).mode & 0o777).toString(8)).to.equal(rights.toString(8));
    }
  });

  it('leave nothing of a download that Ctrl-C broke off, and what was there before as it was', async () => {
    writeFileSync(join(home.work, 'there.txt'), 'mine');
    for (const command of ['service file get big.txt part.txt', 'service file get big.txt there.txt --force']) {
      network.speed = 10 * MB;
      const run = terminal(command);
      await until('it is under way', () => BAR.test(run.shown()));
      expect(readdirSync(home.work).some((name) => name.includes('.part-'))).to.equal(true);
      run.type('\x03');
      const { code, shown } = await run.ended();
      expect(code).to.equal(130);
      expect(leftOnLine(shown)).not.to.match(/%/);
      expect(readdirSync(home.work).filter((name) => name.includes('.part-'))).to.deep.equal([]);
    }
    expect(existsSync(join(home.work, 'part.txt'))).to.equal(false);
    expect(readFileSync(join(home.work, 'there.txt'), 'utf8')).to.equal('mine');
    network.speed = Number.POSITIVE_INFINITY;
    expect((await home.json(['file', 'get', 'big.txt', 'part.txt'], { env })).size).to.equal(big.length);
  });

  if (process.platform === 'linux')
    it('succeed where a process with the same number was killed, as it has in each container', async () => {
      // The first process of a namespace is number 1.
      const get = 'exec unshare -rpf --kill-child service file get big.txt again.txt';
      const written = () => readdirSync(home.work).filter((name) => name.startsWith('again.txt.'));
      await home.json(['file', 'put', 'big.txt'], { env });
      network.speed = 10 * MB;
      const killed = home.startShell(get, { env });
      await until('it is under way', () => written().length === 1);
      killed.kill('SIGKILL');
      await once(killed, 'close');
      network.speed = Number.POSITIVE_INFINITY;
      const left = written();
      const { code, stderr } = await home.shell(get, { env });
      expect([code, stderr, written()]).to.deep.equal([0, '', left]);
      for (const name of left) rmSync(join(home.work, name));
    });

  it('end an upload whose file was changed: the rest is not sent, nor all of it again', async () => {
    const path = join(home.work, 'changing.txt');
    for (const change of [
      () => utimesSync(path, 1, 1),
      () => appendFileSync(path, 'more'),
      () => truncateSync(path, 39 * MB),
    ]) {
      writeFileSync(path, big);
      network.speed = 10 * MB;
      network.seen.length = 0;
      const put = home.run(['file', 'put', 'changing.txt', '--json'], { env });
      const uploads = () => network.seen.filter((line) => line === 'POST /v1/boards/docs/files');
      await until('it is under way', () => uploads().length === 1);
      change();
      network.speed = Number.POSITIVE_INFINITY;
      const { code, stdout } = await put;
      expect([code, JSON.parse(stdout).error.code], String(change)).to.deep.equal([1, 'file_changed_locally']);
      expect(uploads(), String(change)).to.have.length(1);
    }
    const { files } = await home.json(['file', 'list'], { env });
    expect(files.map((file: { name: string }) => file.name)).to.not.include('changing.txt');
  });

  it('leave nothing of an upload that Ctrl-C broke off: no version, nothing staged, nothing spooled', async () => {
    const spool = home.path('cache', 'spool');
    const staged = () => readdirSync(join(at.server.dataDir, 'files', 'tmp'));
    for (const [n, command] of [
      'service file put big.txt --name half.txt',
      'cat big.txt | service file put - --name half.txt',
    ].entries()) {
      network.speed = 10 * MB;
      const run = terminal(command);
      await until(`it is under way; so far: ${run.shown()}`, () => BAR.test(run.shown()));
      if (n === 1) expect(readdirSync(spool)).to.have.length(1);
      run.type('\x03');
      expect((await run.ended()).code).to.equal(130);
      if (n === 1) expect(readdirSync(spool)).to.deep.equal([]);
      await until('the server has put it away', () => staged().length === 0);
    }
    const { files } = await home.json(['file', 'list'], { env });
    expect(files.map((file: { name: string }) => file.name)).to.not.include('half.txt');
    network.speed = Number.POSITIVE_INFINITY;
    const { file } = await home.json(['file', 'put', 'big.txt', '--name', 'half.txt'], { env });
    expect(file.latest.digest).to.equal(`sha256:${createHash('sha256').update(big).digest('hex')}`);
  });
});

describe('an upload while too many others are under way', () => {
  afterEach(closeServers);

  it('waits for its place, however long that takes', async () => {
    const full = { 'Retry-After': '0' };
    const path = join(mkdtempSync(join(tmpdir(), 'upload-')), 'small.txt');
    writeFileSync(path, 'small');
    const local = await localFile(path);
    const server = await serve((_, response, count) =>
      count <= 60
        ? sendJson(response, 429, refusal('rate_limited'), full)
        : sendJson(response, 201, { latest: { digest: local.digest } }),
    );
    const { client } = clientOf(server.origin);
    const files = { session: { client, board: 'docs' } } as unknown as Files;
    await putFile(files, local, { name: 'small.txt' }, { out: new Output('text', true) });
    expect(server.seen.map(({ body }) => body)).to.deep.equal(Array.from({ length: 61 }, () => 'small'));
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).to.equal(1);
    rmSync(dirname(path), { recursive: true });
  });
});

describe('the line of a transfer', () => {
  const state = { done: 10 * MB, total: 40 * MB, seconds: 2 };

  it('fits any terminal: the name gives way first, then the bar', () => {
    expect(lineOf('notes/api.md', state, 200)).to.equal(
      'notes/api.md  ######------------------  25%  10.0 MB of 40.0 MB  5.0 MB/s  6s left',
    );
    expect(lineOf('notes/api.md', state, 79)).to.equal(
      'notes/api  ######------------------  25%  10.0 MB of 40.0 MB  5.0 MB/s  6s left',
    );
    expect(lineOf('notes/api.md', state, 60)).to.equal('25%  10.0 MB of 40.0 MB  5.0 MB/s  6s left');
    for (const room of [0, 10, 43, 70, 100]) expect(lineOf('x'.repeat(200), state, room).length).to.be.at.most(room);
  });

  it('knows an empty file and the first moment', () => {
    expect(lineOf('a', { done: 0, total: 0, seconds: 0 }, 200)).to.include('100%');
  });
});
