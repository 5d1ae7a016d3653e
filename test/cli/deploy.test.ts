/** What docs/deploy.md tells an operator to write is what the program takes. */
import type { ChildProcess } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { readCatalog } from '../../src/cli/help/catalog.ts';
import { variables } from '../../src/cli/help/tables.ts';
import { shellArgument } from '../../src/contract/text.ts';
import { withoutPassword } from '../../src/server/upkeep/storage.ts';
import { startCluster } from '../faults/databases.ts';
import type { Api } from '../support/api.ts';
import { newBoard } from '../support/cast.ts';
import { bytesOf, put } from '../support/files.ts';
import { freePort } from '../support/free-port.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { startTestServer } from '../support/server.ts';
import { WireApi } from '../support/wire-api.ts';
import { collect, finished, Home, root, until } from './support/home.ts';

const page = readFileSync(join(root, 'docs', 'deploy.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1] ?? '');
const program = '/opt/board-service/bin/run.js';

/** The words after the program in each line that runs it. */
const calls = (): string[][] =>
  [...page.matchAll(new RegExp(`(?:${program}|\\| service) ([^|\\n']+)`, 'g'))].map((match) =>
    (match[1] ?? '').trim().split(/\s+/),
  );

describe('docs/deploy.md', () => {
  const home = new Home();
  after(() => home.close());

  it('names commands, flags and variables that there are', () => {
    const { commands } = readCatalog(root);
    expect(calls().length).to.be.at.least(4);
    for (const words of calls()) {
      const id = Object.keys(commands).find((known) => `${words.join(':')}:`.startsWith(`${known}:`));
      expect(id, words.join(' ')).to.be.a('string');
    }
    const known = variables.flatMap(([names]) => names.split(', '));
    const named = [...page.matchAll(/\b(SERVICE_[A-Z_]+)\b/g)].map((match) => match[1]!);
    expect(named.filter((name) => !known.includes(name))).to.deep.equal([]);
    const flags = Object.keys(commands['serve']?.flags ?? {});
    const table = [...page.matchAll(/\| `--([a-z-]+)` \|/g)].map((match) => match[1]!);
    expect(table).to.have.length.at.least(6);
    expect(table.filter((name) => !flags.includes(name))).to.deep.equal([]);
  });

  it('has settings and a unit that start a team’s server on Postgres, and stop it', async () => {
    const vps = await Vps.make(home);
    const api = await vps.start();
    expect((await api.call('getInfo')).status).to.equal(200);
    expect(readFileSync(join(vps.data, 'admin-key'), 'utf8')).to.match(/^abh_/);
    expect(readFileSync(join(vps.data, 'storage'), 'utf8')).to.match(/^postgres:/);
    expect(await vps.stop()).to.equal(0);

    const recovery = /run\.js (server recover-key [^']+)'/.exec(page)?.[1];
    const recovered = await vps.run(`service ${recovery}`);
    expect(recovered.code, recovered.stderr).to.equal(0);
    expect(readFileSync(join(vps.data, 'recovery-key'), 'utf8')).to.match(/^abh_/);
    vps.remove();
  });

  it('has a unit that starts the server again, but not for ever, and not where the settings are wrong', () => {
    const [general, service] = blocks('ini')[1]!.split('[Service]');
    expect(general)
      .to.match(/^StartLimitIntervalSec=300$/m)
      .and.match(/^StartLimitBurst=10$/m);
    for (const line of ['Restart=always', 'RestartSec=1', 'RestartPreventExitStatus=2'])
      expect(service!.split('\n')).to.include(line);
  });

  it('starts a server that waits for a database that is not up yet, unless that lets nobody in', async () => {
    const cluster = await startCluster();
    const vps = await Vps.make(home, cluster.db);
    try {
      await cluster.end('fast');
      const starting = vps.start();
      await until('it says that it waits', () => vps.printed().stderr.includes('"waiting for the database"'));
      const line = vps.log().find(({ msg }) => msg === 'waiting for the database');
      expect(line).to.include({ level: 'warn', db: cluster.db.replace(':test', ''), seconds: 60 });
      await cluster.start();
      expect((await (await starting).call('getInfo')).status).to.equal(200);
      expect(await vps.stop()).to.equal(0);

      for (const wrong of [cluster.db.replace(':test@', ':wrong@'), `${cluster.db}_none`]) {
        vps.set('SERVICE_DB', wrong);
        const begun = performance.now();
        const { code, stderr } = await vps.run(vps.command);
        expect(code).to.equal(1);
        expect(stderr).to.include('storage_unreachable').and.not.include('"waiting').and.not.include('wrong@');
        expect(performance.now() - begun).to.be.below(10_000);
      }
      await cluster.end('fast');
      vps.set('SERVICE_DB', cluster.db);
      vps.set('SERVICE_WAIT_FOR_DB', '1');
      expect(await vps.run(vps.command)).to.include({ code: 1 });
      vps.set('SERVICE_WAIT_FOR_DB', 'long');
      const refused = await vps.run(vps.command);
      expect(refused.code).to.equal(2);
      expect(refused.stderr).to.include('SERVICE_WAIT_FOR_DB is "long"');
      await cluster.start();
    } finally {
      vps.remove();
      await cluster.stop();
    }
  });

  it('leads to a second process that serves the files of the first', async () => {
    const vps = await Vps.make(home);
    const api = await vps.start();
    const board = (await newBoard(api)).name;
    await put(api, board, 'a.md', 'from the disk');

    const [, , shared, differs] = blocks('ini');
    const second = await vps.beside(differs!);
    expect(second.settings).to.include('SERVICE_LISTEN=127.0.0.1:').and.not.equal(vps.settings);
    mkdirSync(second.data, { mode: 0o700 });
    copyFileSync(join(vps.data, 'server-secret'), join(second.data, 'server-secret'));
    const refused = await second.run(second.command);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('storage_unsupported').and.include('--files db: or SERVICE_FILES=db:');

    expect(await vps.stop()).to.equal(0);
    const copy = /run\.js (storage copy [^']+)'/.exec(page)?.[1];
    const copied = await vps.run(`service ${copy}`);
    expect(copied.stdout, copied.stderr).to.include('Copied 1, ');
    for (const each of [vps, second]) each.settings += shared!;
    const again = await vps.start();
    const other = await second.start(again.token);
    expect((await bytesOf(other, board, 'a.md')).toString()).to.equal('from the disk');
    await put(other, board, 'b.md', 'from the second');
    expect((await bytesOf(again, board, 'b.md')).toString()).to.equal('from the second');
    for (const each of [vps, second]) {
      expect(await each.stop()).to.equal(0);
      each.remove();
    }
  });

  it('says what to revoke when a key is lost: what stops with it, and what goes on until it is ended too', async () => {
    const server = await startTestServer('sqlite');
    const [here, lost] = [new Home(), new Home()];
    const signIn = async (at: Home, person: Api, name: string): Promise<void> => {
      const { token } = await person.ok('createKey', { body: { name } });
      const signed = await at.shell(`printf %s '${token}' | service login ${server.url} --store file`);
      expect(signed.code, signed.stderr).to.equal(0);
    };
    const works = async (at: Home) => (await at.run(['whoami'])).code === 0;
    const play = async (block: string, codeId = ''): Promise<void> => {
      for (const line of block.trim().split('\n')) {
        const { code, stderr } = await here.shell(line.replace(/jc_[0-9A-Z]+/, codeId));
        expect(code, `${line}: ${stderr}`).to.equal(0);
      }
    };
    const found = (text: string) => blocks('sh').find((block) => block.startsWith(text))!;
    try {
      const ana = await server.person('ana', 'admin');
      await signIn(here, ana, 'desk');
      await signIn(lost, ana, 'ana-laptop');
      await lost.json(['board', 'create', 'payments', '--no-link']);
      await lost.json(['agent', 'create', 'helper', '--board', 'payments']);
      const { invite } = await lost.json(['invite', 'create']);
      const { key: made } = await lost.json(['key', 'create', 'ci']);
      const { code } = await lost.json(['code', 'create', '--board', 'payments']);
      await play(found('service key list\n'));
      expect(await works(lost)).to.equal(false);
      expect((await lost.run(['inbox', '--as', 'helper'])).code).to.equal(4);
      expect((await here.run(['invite', 'preview', invite.invite])).code).to.equal(6);
      const { keys } = await here.json(['key', 'list']);
      const [ci, first] = ['ci', 'ana-laptop'].map((name) => keys.find((key: { name: string }) => key.name === name));
      expect([ci.state, ci.parent_key_id, ci.id]).to.deep.equal(['working', first.id, made.id]);
      const { join_codes: codes } = await here.json(['code', 'list', '--board', 'payments']);
      expect(codes.map(({ state }: { state: string }) => state)).to.deep.equal(['working']);

      await play(found('service key revoke ci\n'), code.id);
      const after = (await here.json(['key', 'list'])).keys.filter(
        ({ state }: { state: string }) => state === 'working',
      );
      expect(after.map(({ name }: { name: string }) => name)).not.to.include('ci');
      expect((await here.json(['code', 'list', '--board', 'payments'])).join_codes).to.deep.equal([]);

      await signIn(lost, ana, 'ana-laptop');
      await signIn(here, server.dana, 'desk');
      await play(found('service key list --person ana\n'));
      expect(await works(lost)).to.equal(false);
      await signIn(lost, server.dana, 'admin-key');
      await play(found('service key revoke admin-key'));
      expect(await works(lost)).to.equal(false);
    } finally {
      await Promise.all([here.close(), lost.close()]);
      await server.stop();
    }
  });

  it('has proxies that go on while a process is down', () => {
    const [caddy, nginx] = [blocks('caddy'), blocks('nginx')];
    expect(caddy).to.have.length(3);
    for (const example of caddy) expect(example).to.match(/^\t+lb_try_duration 10s$/m);
    const [several] = caddy.filter((example) => example.includes('127.0.0.1:7401'));
    // Caddy asks by the address it sends to, which is no host that the server answers to.
    expect(several)
      .to.match(/^\t+health_uri \/v1\/info$/m)
      .and.match(/^\t+health_headers \{\n\t+Host team\.example\.com$/m);
    const fronts = nginx.filter((example) => example.includes('listen 443'));
    expect(fronts).to.have.length(2);
    for (const example of fronts)
      expect(example)
        .to.match(/^\s+proxy_next_upstream (on|error timeout);$/m)
        .and.match(/^ +proxy_connect_timeout 2s;$/m);
    expect(nginx.filter((example) => example.includes('127.0.0.1:7401 fail_timeout=5s;'))).to.have.length(1);
  });

  it('names the module of nginx that the PROXY protocol needs, before it is used', () => {
    const aheadOf = (text: string) => page.slice(0, page.indexOf(text));
    expect(aheadOf('## The program')).to.include('`stream` module');
    expect(aheadOf('stream {')).to.include('`libnginx-mod-stream`').and.include('ngx_stream_module.so');
  });

  for (const [engine, program] of [
    ['sqlite', 'sqlite3 -header'],
    ['postgres', 'psql service -c'],
  ] as const)
    it(`has a query that tells what a restore takes back, on ${engine}`, async () => {
      const server = await startTestServer(engine);
      try {
        const ana = await server.person('ana', 'admin');
        await ana.ok('renamePerson', { params: { handle: 'ana' }, body: { handle: 'anna' } });
        const { id } = await ana.ok('createInvite', { body: {} });
        await ana.ok('revokeInvite', { params: { invite: id } });
        await server.dana.ok('removePerson', { params: { handle: 'anna' } });
        const block = blocks('sh').find((each) => each.includes(program) && each.includes('server_audit'));
        const query = /"(SELECT [^"]+)"/.exec(block!)?.[1]?.replace('2026-11-21 04:00', '2020-01-01 04:00');
        const rows = await server.db.read((tx) => tx.query<Record<string, string>>((db) => db.raw(query!)));
        const told = rows.map(({ action, by, target, details_json }) => [
          action,
          by,
          target,
          JSON.parse(details_json!),
        ]);
        expect(told).to.deep.include(['person.renamed', 'anna', 'anna', { before: 'ana', after: 'anna' }]);
        expect(told.find(([action]) => action === 'invite.revoked')?.slice(0, 3)).to.deep.equal([
          'invite.revoked',
          'anna',
          id,
        ]);
        expect([told.at(-1)?.[0], told.at(-1)?.[2]]).to.deep.equal(['person.removed', 'anna']);
      } finally {
        await server.stop();
      }
    });

  it('starts a restored server once the proxy lets nobody else in', () => {
    const restore = page.slice(page.indexOf('To restore, stop the server'));
    expect(restore.indexOf('answer to your address alone')).to.be.within(1, restore.indexOf('systemctl start service'));
  });

  it('has a backup that brings every file back, and a look that finds what is missing', async () => {
    const vps = await Vps.make(home);
    const api = await vps.start();
    const board = (await newBoard(api)).name;
    await put(api, board, 'kept.md', 'still here');
    const [backup, restore] = ['pg_dump', 'pg_restore'].map(
      (name) => blocks('sh').find((each) => each.includes(name))!,
    );
    const saved = await vps.run(vps.here(backup!), vps.dir);
    expect(saved.code, saved.stderr).to.equal(0);
    expect(await vps.stop()).to.equal(0);
    const db = await copyOf(vps.db);

    const check = /run\.js (storage check [^']+)'/.exec(page)?.[1];
    const restored = await Vps.make(home, db);
    mkdirSync(restored.data, { mode: 0o700 });
    copyFileSync(join(vps.dir, 'server-secret.backup'), join(restored.data, 'server-secret'));
    const without = await restored.run(`service ${check}`);
    expect(without.code, without.stderr).to.equal(3);
    const { stdout } = await restored.run('service doctor --json || true');
    const { checks } = JSON.parse(stdout) as { checks: { code: string | null; message: string }[] };
    expect(checks.find(({ code }) => code === 'blob_missing')?.message).to.include(`kept.md v1 on ${board}`);
    // Without its parameters, as it is shown, nothing answers at this address.
    const elsewhere = `${db.replace(/:(\d+)\//, ':1/')}?port=${new URL(db).port}`;
    restored.set('SERVICE_DB', `'${elsewhere}'`);
    const started = await restored.start(api.token);
    await until('it says what is missing', () =>
      restored.log().some(({ msg }) => msg === 'bytes of files are missing or damaged'),
    );
    const told = restored.log().find(({ msg }) => msg === 'bytes of files are missing or damaged');
    const look = `service storage check --data ${restored.data} --db ${shellArgument(withoutPassword(elsewhere))}`;
    expect(told).to.include({ level: 'warn', missing: 1, look });
    const looked = await restored.run(look);
    expect(looked.code, looked.stderr).to.equal(3);
    expect((await tryBytes(started, board, 'kept.md')).status).to.equal(503);
    await restored.stop();

    for (const file of readdirSync(vps.dir)) {
      if (/^files-|\.backup$/.test(file))
        copyFileSync(join(vps.dir, file), join(restored.dir, file.replace(/\d{4}-\d\d-\d\d/, '2026-11-21')));
    }
    rmSync(restored.data, { recursive: true });
    mkdirSync(restored.data, { mode: 0o700 });
    const unpacked = await restored.run(restored.here(restore!), restored.dir);
    expect(unpacked.code, unpacked.stderr).to.equal(0);
    const found = await restored.run(`service ${check}`);
    expect(found.code, found.stdout).to.equal(0);
    const back = await restored.start(api.token);
    expect((await bytesOf(back, board, 'kept.md')).toString()).to.equal('still here');
    expect(await restored.stop()).to.equal(0);
    for (const each of [vps, restored]) each.remove();
  });
});

/** A machine that was set up by the page, in folders of the test. */
class Vps {
  readonly dir = mkdtempSync(join(tmpdir(), 'board-deploy-'));
  readonly data = join(this.dir, 'data');
  readonly db: string;
  /** What the page starts. */
  readonly command: string;
  settings: string;
  printed: () => { stdout: string; stderr: string } = () => ({ stdout: '', stderr: '' });
  readonly #home: Home;
  readonly #port: number;
  #child: ChildProcess | null = null;

  private constructor(home: Home, port: number, db: string) {
    this.#home = home;
    this.#port = port;
    this.db = db;
    const [settings, unit] = blocks('ini');
    this.command = `service ${/^ExecStart=\/usr\/bin\/node \S+ (.*)$/m.exec(unit!)?.[1]}`;
    // The shell reads these settings too, where & has a meaning of its own.
    const named = `${db}?sslmode=disable&target_session_attrs=read-write`;
    this.settings = this.#own(settings!.replace(/postgres:[^'\n]*/, named));
    expect(this.settings).not.to.equal(settings);
  }

  static async make(home: Home, db?: string): Promise<Vps> {
    return new Vps(home, await freePort(), db ?? (await newPostgresDatabase()));
  }

  /** Another process on the same database. @param differs its own settings, as the page has them. */
  async beside(differs: string): Promise<Vps> {
    const second = new Vps(this.#home, await freePort(), this.db);
    second.settings = this.settings + second.#own(differs);
    return second;
  }

  set(name: string, value: string): void {
    this.settings = `${this.settings.replace(new RegExp(`^${name}=.*\n`, 'm'), '')}${name}=${value}\n`;
  }

  /** The page's lines with the folders of this machine, for somebody who may do it all. */
  here(lines: string): string {
    const own = lines.replaceAll(/^sudo (chown|-u postgres) .*$/gm, '').replaceAll('sudo ', '');
    return this.#own(own);
  }

  run(script: string, cwd?: string) {
    return this.#home.shell(`set -e -a\n${this.settings}\nset +a\n${script}`, { env: { HOME: '/nonexistent' }, cwd });
  }

  /** A client of the server, by default with the first admin's key. */
  async start(token?: string): Promise<WireApi> {
    const script = `set -a\n${this.settings}\nexec ${this.command}`;
    this.#child = this.#home.startShell(script, { env: { HOME: '/nonexistent' } });
    this.printed = collect(this.#child);
    await until('it listens', () => this.printed().stderr.includes('"listening"'));
    const key = token ?? readFileSync(join(this.data, 'admin-key'), 'utf8').trim();
    return new WireApi({ port: this.#port, url: 'https://team.example.com' }, key);
  }

  /** What it logged, as objects. */
  log(): { level: string; msg: string; [field: string]: unknown }[] {
    const lines = this.printed().stderr.split('\n');
    return lines.filter((line) => line.startsWith('{') && line.endsWith('}')).map((line) => JSON.parse(line));
  }

  async stop(): Promise<number | null> {
    this.#child!.kill('SIGTERM');
    return (await finished(this.#child!)).code;
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  #own(text: string): string {
    return text
      .replaceAll(/\/var\/lib\/service(-2)?(?=[\s/]|$)/g, this.data)
      .replaceAll(/127\.0\.0\.1:740\d/g, `127.0.0.1:${this.#port}`);
  }
}

/** The same database once more, which nobody may be connected to. */
async function copyOf(url: string): Promise<string> {
  const from = new URL(url).pathname.slice(1);
  const admin = new URL(url);
  admin.pathname = '/postgres';
  const client = new pg.Client(admin.href);
  await client.connect();
  await client.query(`CREATE DATABASE ${from}_copy TEMPLATE ${from}`);
  await client.end();
  return url.replace(from, `${from}_copy`);
}

const tryBytes = (from: Api, board: string, file: string) =>
  from.call('downloadFile', { params: { board, file, version: 'latest' } });
