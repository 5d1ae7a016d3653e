/** `service doctor`: it starts nothing, changes nothing unasked, and names what is wrong with the way to mend it. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { copyFolder } from '../support/copy-folder.ts';
import { Home, until } from './support/home.ts';

interface Finding {
  name: string;
  level: 'ok' | 'note' | 'warning' | 'error';
  code: string | null;
  message: string;
  fix: string | null;
}

describe('service doctor', () => {
  let home: Home;
  afterEach(() => home.close());

  async function findings(args: string[] = [], env: Record<string, string> = {}) {
    const { code, stdout, stderr } = await home.run(['doctor', '--json', ...args], { env });
    if (code !== 0 && code !== 3) throw new Error(stdout + stderr);
    const { checks, fixed } = JSON.parse(stdout) as { checks: Finding[]; fixed: string[] };
    const bad = checks.filter(({ level }) => level === 'error');
    expect(code).to.equal(bad.length > 0 ? 3 : 0);
    return { checks, bad, fixed, codes: bad.map((finding) => finding.code) };
  }

  const codesOf = (checks: Finding[]): (string | null)[] => checks.map(({ code }) => code);

  async function withFile(): Promise<string> {
    home = new Home();
    await home.json(['board', 'create', 'docs']);
    const put = await home.shell(
      `mkdir notes; echo one > notes/api.md; service file put notes/api.md --name notes/api.md`,
    );
    if (put.code !== 0) throw new Error(put.stderr);
    const folder = home.path('data', 'files', 'sha256');
    const [found] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.length > 60);
    return join(folder, found as string);
  }

  it('finds nothing wrong in an empty home, a session of an agent included, and starts nothing', async () => {
    home = new Home();
    for (const env of [{}, { SERVICE_SESSION: 'claude-code:abc' }] as Record<string, string>[]) {
      const { checks, bad } = await findings([], env);
      expect(bad).to.deep.equal([]);
      for (const finding of checks) {
        expect(Object.keys(finding)).to.have.members(['name', 'level', 'code', 'message', 'fix']);
        expect(finding.level === 'ok').to.equal(finding.code === null);
      }
    }
    expect(home.serverPid()).to.equal(null);
    expect(existsSync(home.path('data', 'service.db'))).to.equal(false);
    const text = await home.run(['doctor']);
    expect(text.stdout).to.match(/ ok, \d+ warnings?, 0 errors\.\n$/);
  });

  it('says a sentence with the message, and only what can be run as the fix, in lines that fit the terminal', async () => {
    home = new Home();
    const path = home.path('config', 'credentials.json');
    mkdirSync(home.path('config'), { mode: 0o700, recursive: true });
    writeFileSync(path, '{', { mode: 0o600 });
    const [found] = (await findings()).bad;
    expect(found).to.include({ code: 'config_corrupt', fix: `mv '${path}' '${path}.broken'` });
    expect(found?.message).to.match(/ Repair it, or move it away\.$/);
    const command = 'stty cols 60 rows 60; service doctor --no-color';
    const { stdout } = await home.shell(`script -qec '${command}' /dev/null </dev/null`);
    const lines = stdout.replaceAll('\r', '').trimEnd().split('\n');
    const long = lines.filter((line) => line.length > 60 && !line.includes('Fix: ') && line.trim().includes(' '));
    expect(long).to.deep.equal([]);
    rmSync(path);
  });

  it('names the version whose bytes are damaged or missing, until they are back', async () => {
    const blob = await withFile();
    expect((await findings()).bad).to.deep.equal([]);
    copyFolder(home.path('data', 'files'), join(home.dir, 'copy'));
    writeFileSync(blob, 'two\n');
    const damaged = (await findings()).bad;
    expect(damaged.map(({ name, code }) => [name, code])).to.deep.equal([['files', 'blob_corrupt']]);
    expect(damaged[0]?.message).to.match(
      /^notes\/api\.md v1 on docs: its bytes are damaged \(sha256:[0-9a-f]{64}\)\.$/,
    );
    expect(damaged[0]?.fix).to.include(
      `storage copy --from <a copy of them> --to disk://${home.path('data', 'files')}`,
    );
    rmSync(blob);
    const missing = await findings();
    expect(missing.codes).to.deep.equal(['blob_missing']);
    const get = await home.run(['file', 'get', 'notes/api.md', 'got.md']);
    expect(get.code).to.equal(8);
    expect(get.stderr).to.include('missing from its store').and.include('service doctor');
    expect(existsSync(join(home.work, 'got.md'))).to.equal(false);
    const text = await home.run(['doctor']);
    expect(text.code).to.equal(3);
    expect(text.stdout).to.match(/error {4}files: notes\/api\.md v1 on docs: .*\n +Fix: service storage copy/);
    const quiet = await home.run(['doctor', '-q']);
    expect([quiet.code, quiet.stdout]).to.deep.equal([3, '']);
    expect(quiet.stderr).to.include('Error (check_failed)');
    const places = ['--from', `disk://${home.path('data', 'files')}`, '--to', `disk://${home.dir}/other`];
    const copied = await home.run(['storage', 'copy', ...places, '-q']);
    expect([copied.code, copied.stdout, copied.stderr.split('\n')[0]]).to.deep.equal([
      3,
      '',
      'Error (check_failed): 1 of 1 files could not be copied.',
    ]);
    await home.json([
      'storage',
      'copy',
      '--from',
      `disk://${home.dir}/copy`,
      '--to',
      `disk://${home.path('data', 'files')}`,
    ]);
    expect((await findings()).bad).to.deep.equal([]);
    expect((await home.json(['file', 'get', 'notes/api.md', 'got.md'])).version).to.equal(1);
  });

  it('names a damaged database, with what to put in its place', async () => {
    home = new Home();
    await home.json(['board', 'create', 'docs']);
    await home.json(['server', 'stop']);
    writeFileSync(home.path('data', 'service.db'), 'x'.repeat(8_192));
    const { bad } = await findings();
    expect(bad.map(({ name, code }) => [name, code])).to.deep.equal([
      ['database', 'storage_unreachable'],
      ['files', 'storage_unreachable'],
    ]);
    expect(bad[0]?.message).to.match(
      /^The database is damaged: file is not a database\. Stop the server, .* put back its latest backup\.$/,
    );
    expect(bad[0]?.fix).to.equal(null);
  });

  it('is named by a download that meets damaged bytes, of which nothing is kept or printed, few or many', async () => {
    home = new Home();
    await home.json(['board', 'create', 'docs']);
    // Up to 1 MiB the server looks at all of it first; of more it holds back the end.
    for (const size of [1_048_576, 1_048_577, 3_000_000]) {
      const bytes = Buffer.alloc(size, 'much');
      writeFileSync(join(home.work, 'a.bin'), bytes);
      const { file } = await home.json(['file', 'put', 'a.bin', '--name', `${size}.bin`]);
      const hex = file.latest.digest.slice('sha256:'.length);
      bytes[size - 1] = 0;
      writeFileSync(home.path('data', 'files', 'sha256', hex.slice(0, 2), hex.slice(2, 4), hex), bytes);
      writeFileSync(join(home.work, 'there.bin'), 'mine');
      const get = async (...to: string[]) => {
        const { code, stdout, stderr } = await home.run(['file', 'get', `${size}.bin`, ...to]);
        expect([code, stdout], `${size} ${to}`).to.deep.equal([8, '']);
        expect(stderr, `${size} ${to}`).to.include('service doctor');
      };
      // Together: each waits seconds before it tries again.
      await Promise.all([get('got.bin'), get('there.bin', '--force'), get('-')]);
      expect(readdirSync(home.work).sort()).to.deep.equal(['.service', 'a.bin', 'there.bin']);
      expect(readFileSync(join(home.work, 'there.bin'), 'utf8')).to.equal('mine');
    }
  });

  it('finds what is open to others and what was left over, and mends both when asked', async () => {
    home = new Home();
    await home.json(['board', 'create', 'docs']);
    const path = home.path('config', 'credentials.json');
    const lock = home.path('state', 'start.lock');
    const spooled = home.path('cache', 'spool', 'old');
    chmodSync(path, 0o644);
    chmodSync(home.path('state'), 0o755);
    await home.shell(`umask 077; mkdir -p "$SERVICE_HOME/cache/spool"; echo 999999 > "${lock}"; touch "${spooled}"`);
    const long = new Date(Date.now() - 2 * 86_400_000);
    for (const old of [lock, spooled]) utimesSync(old, long, long);
    const setUp = home.path('state', 'installed.json');
    writeFileSync(setUp, '{"v":1,"programs":{},"items":[]}', { mode: 0o644 });
    const { bad, checks } = await findings();
    expect(bad.map(({ fix }) => fix))
      .to.include(`chmod 600 '${path}'`)
      .and.to.include(`chmod 700 '${home.path('state')}'`);
    expect(new Set(codesOf(bad))).to.deep.equal(new Set(['credentials_unsafe']));
    expect(checks.filter(({ code }) => code === 'stale')).to.have.length(2);
    expect(statSync(path).mode & 0o777).to.equal(0o644);
    const mended = await findings(['--fix']);
    expect(mended.bad).to.deep.equal([]);
    expect(mended.fixed).to.have.length(5).and.to.include(`chmod 600 ${setUp}`);
    expect([existsSync(lock), existsSync(spooled), statSync(path).mode & 0o777]).to.deep.equal([false, false, 0o600]);
  });

  it('finds what is open to others also in the data folder that SERVICE_DATA names', async () => {
    home = new Home();
    const data = join(home.dir, 'team');
    const secret = join(data, 'server-secret');
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(secret, '', { mode: 0o644 });
    const { bad } = await findings([], { SERVICE_DATA: data });
    expect(bad.map(({ fix }) => fix)).to.include(`chmod 600 '${secret}'`);
  });

  it('takes a linked folder as the program does, and offers to move or take nothing that others have', async () => {
    home = new Home();
    for (const kind of ['config', 'data']) {
      const real = join(home.dir, `real-${kind}`);
      mkdirSync(real, { mode: 0o700 });
      mkdirSync(home.path('..'), { recursive: true });
      symlinkSync(real, home.path(kind));
    }
    // Somebody else's, for root and for everybody else.
    const isRoot = process.getuid?.() === 0;
    const theirs = isRoot ? join(home.dir, 'theirs') : '/usr';
    if (isRoot) {
      mkdirSync(theirs, { mode: 0o700 });
      writeFileSync(join(theirs, 'service.db'), '');
      for (const path of [join(theirs, 'service.db'), theirs]) chownSync(path, 12345, 12345);
    }
    const linked = (await findings()).bad;
    expect(linked.map(({ message, fix }) => [message, fix])).to.deep.equal([
      [`${home.path('data')} is a link. Name the folder itself, not a link to it.`, null],
    ]);
    const { bad } = await findings([], { SERVICE_HOME: '', SERVICE_DATA_DIR: theirs });
    expect(bad[0]?.message).to.equal(
      `${theirs} belongs to the user with the id ${statSync(theirs).uid}. Set SERVICE_DATA_DIR to a folder of your own.`,
    );
    expect(bad.filter(({ name }) => name === 'folders').map(({ fix }) => fix)).to.deep.equal(
      isRoot ? [null, null] : [null],
    );
    rmSync(home.path('data'));
    writeFileSync(home.path('data'), '');
    const path = home.path('data');
    expect((await findings()).bad.map(({ fix }) => fix)).to.include(`mv -n '${path}' '${path}.away'`);
    rmSync(path);
  });

  it('never mends a lock whose holder runs', async () => {
    home = new Home();
    await home.shell('mkdir -p "$SERVICE_HOME/state"; chmod 700 "$SERVICE_HOME" "$SERVICE_HOME/state"');
    const lock = home.path('state', 'start.lock');
    writeFileSync(lock, String(process.pid));
    const long = new Date(Date.now() - 86_400_000);
    utimesSync(lock, long, long);
    await findings(['--fix']);
    expect(existsSync(lock)).to.equal(true);
  });

  it('finds a seat that ended, and an invalid credentials file', async () => {
    home = new Home();
    await home.json(['board', 'create', 'docs']);
    await home.json(['agent', 'create', 'codex', '-b', 'docs']);
    await home.json(['agent', 'create', 'claude', '-b', 'docs']);
    expect((await findings()).checks.find(({ name }) => name === 'seats')?.message).to.equal('2 work');
    const path = home.path('config', 'credentials.json');
    const kept = readFileSync(path, 'utf8');
    await home.json(['agent', 'remove', 'codex', '-b', 'docs', '--yes']);
    writeFileSync(path, kept);
    const { bad } = await findings();
    expect(bad.map(({ name, code }) => [name, code])).to.deep.equal([['seats', 'agent_removed']]);
    expect(bad[0]?.message).to.include('codex on docs');
    writeFileSync(path, '{');
    expect((await findings()).codes).to.deep.equal(['config_corrupt']);
    writeFileSync(path, kept);
  });

  it('sends no key to a server that is another one now, and tells of versions and clocks that do not fit', async () => {
    home = new Home();
    await home.json(['board', 'create', 'docs']);
    const asked: (string | undefined)[] = [];
    let answer = { server_id: 'srv_other', version: '0.1.0' };
    const stranger = createServer((request, response) => {
      asked.push(request.headers.authorization);
      response.setHeader('content-type', 'application/json');
      response.setHeader('date', new Date(Date.now() + 300_000).toUTCString());
      response.end(JSON.stringify({ name: 'service', mode: 'team', features: [], ...answer }));
    }).listen(0, '127.0.0.1');
    await until('it listens', () => stranger.listening);
    const origin = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    const path = home.path('config', 'credentials.json');
    const saved = JSON.parse(readFileSync(path, 'utf8'));
    const key = { id: 'key_1', name: 'laptop', expires_at: null, store: 'file', token: `abh_${'A'.repeat(43)}` };
    const person = { id: 'hum_1', handle: 'dana' };
    saved.servers[origin] = { server_id: 'srv_known', name: 'team', mode: 'team', person, key, seats: {} };
    writeFileSync(path, JSON.stringify(saved));
    try {
      const other = (await findings()).bad;
      expect(other.map(({ name, code, fix }) => [name, code, fix])).to.deep.equal([
        ['server team', 'server_identity_changed', `service login ${origin}`],
      ]);
      expect(asked.filter(Boolean)).to.deep.equal([]);
      answer = { server_id: 'srv_known', version: '0.9.0' };
      const codes = codesOf((await findings()).checks);
      expect(codes).to.include('version_skew').and.to.include('clock_skew').and.to.include('keychain_unavailable');
      answer = { server_id: 'srv_known', version: 'x' };
      expect(codesOf((await findings()).checks)).to.include('version_unknown');
    } finally {
      stranger.close();
    }
    const { bad } = await findings();
    expect(bad.map(({ name, code }) => [name, code])).to.deep.equal([['server team', 'server_unreachable']]);
  });

  it('knows who has the port, and data of a newer build', async () => {
    home = new Home();
    const other = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await until('it listens', () => other.listening);
    const { port } = other.address() as AddressInfo;
    const taken = await findings([], { SERVICE_LOCAL_ADDR: `127.0.0.1:${port}` });
    other.close();
    expect(taken.codes).to.deep.equal(['address_in_use']);
    await home.json(['board', 'create', 'docs']);
    await home.json(['server', 'stop']);
    const db = new Database(home.path('data', 'service.db'));
    db.prepare("INSERT INTO migrations (name, batch, migration_time) VALUES ('999_future', 9, 0)").run();
    db.close();
    const { bad } = await findings();
    expect(bad.map(({ name, code }) => [name, code])).to.deep.equal([['database', 'data_newer']]);
    expect(bad[0]?.message).to.include('999_future');
  });

  it('tells of certificates and proxies that cannot be used, without repeating a password', async () => {
    home = new Home();
    const env = { NODE_EXTRA_CA_CERTS: join(home.dir, 'none.pem'), HTTPS_PROXY: 'maya:hunter22@proxy' };
    const { bad } = await findings([], env);
    expect(bad.map(({ name }) => name)).to.deep.equal(['network', 'network']);
    expect(JSON.stringify(bad)).not.to.include('hunter22');
  });

  it('tells of a proxy that this version of Node.js does not use', async () => {
    home = new Home();
    const old = join(home.dir, 'old.cjs');
    const env = { HTTPS_PROXY: 'http://proxy.example:3128', NODE_OPTIONS: `--require=${old}` };
    for (const [version, level] of [
      ['22.18.0', 'warning'],
      ['22.21.0', 'ok'],
      ['24.4.1', 'warning'],
      ['24.5.0', 'ok'],
    ] as const) {
      writeFileSync(
        old,
        `Object.defineProperty(process, 'version', { value: 'v${version}' });
         Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
      );
      const { checks } = await findings([], env);
      const network = checks.find(({ name }) => name === 'network');
      expect(network?.level, version).to.equal(level);
      if (level === 'warning') expect(network?.message).to.equal(`Node.js v${version} does not use HTTPS_PROXY.`);
    }
  });
});
