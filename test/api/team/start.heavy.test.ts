import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startError, writePrivately } from '../../support/data-folder.ts';
import { type Engine, forEachDatabase } from '../../support/databases.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { exchange, lines } from '../../support/raw.ts';
import { startTeamServer, type TeamServer } from '../../support/team.ts';

type PersonRow = { handle: string; server_role: string };

const people = (server: TeamServer) => server.db.read((tx) => tx.query<PersonRow>((db) => db('people').select()));

forEachDatabase('the first start of a team server', (engine) => {
  let server: TeamServer;
  let key: string;
  before(async () => {
    server = await startTeamServer(engine);
    key = join(server.dataDir, 'admin-key');
  });
  after(() => server.stop());

  it('makes one admin, with a key in a file that is its owner’s alone', async () => {
    const me = await server.admin().ok('getMe');
    expect(me).to.include({ kind: 'human', name: 'ana', server_role: 'admin' });
    expect(await people(server)).to.have.length(1);
    expect(statSync(key).mode & 0o777).to.equal(0o600);
    expect(readdirSync(server.dataDir)).not.to.include.members(['local-key', 'server.addr', 'admin-key.pending']);
    const [row] = await server.db.read((tx) =>
      tx.query<{ name: string; origin: string; idle_seconds: number; expires_at: number; created_at: number }>((db) =>
        db('access_keys').select(),
      ),
    );
    expect(row).to.include({ name: 'admin-key', origin: 'first_admin', idle_seconds: 7_776_000 });
    expect(row!.expires_at).to.be.at.least(row!.created_at + 7_776_000_000);
  });

  it('is told in the log by the file, never by the key', () => {
    const created = server.log.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'first admin created');
    expect(created).to.include({ level: 'info', handle: 'ana', key_file: key });
    expect(server.log.join()).not.to.include(readFileSync(key, 'utf8').trim());
  });

  it('is told of by GET /v1/info', async () => {
    expect(await server.client().ok('getInfo')).to.include({ mode: 'team' });
  });

  it('is reminded of at each start while the file is there, and not after', async () => {
    const reminders = () => server.log.filter((line) => line.includes('is still here')).length;
    expect(reminders()).to.equal(0);
    await server.restart();
    expect(reminders()).to.equal(1);
    const moved = `${key}.moved`;
    renameSync(key, moved);
    await server.restart();
    expect([reminders(), existsSync(key)]).to.deep.equal([1, false]);
    renameSync(moved, key);
  });

  it('is over for good: no later start makes another admin, or a key for one', async () => {
    const saved = readFileSync(key, 'utf8');
    rmSync(key);
    await server.restart();
    expect(await people(server)).to.have.length(1);
    expect(existsSync(key)).to.equal(false);
    writePrivately(key, saved);
    await server.restart();
    expect(await server.admin().ok('getMe')).to.include({ name: 'ana' });
  });

  it('leaves alone a file that holds another key, once people are there', async () => {
    const saved = readFileSync(key, 'utf8');
    writePrivately(key, `abh_${'A'.repeat(43)}\n`);
    await server.restart();
    expect(readFileSync(key, 'utf8')).to.include('AAAA');
    writePrivately(key, saved);
  });

  it('delivers a key left pending after its transaction, and drops one whose transaction never was', async () => {
    const token = readFileSync(key, 'utf8');
    await server.close();
    renameSync(key, `${key}.pending`);
    await server.restart();
    expect(readFileSync(key, 'utf8')).to.equal(token);
    await server.close();
    linkSync(key, `${key}.pending`);
    await server.restart();
    expect([readFileSync(key, 'utf8'), existsSync(`${key}.pending`)]).to.deep.equal([token, false]);
    for (const left of [`abh_${'B'.repeat(43)}\n`, 'abh_', '']) {
      await server.close();
      writePrivately(`${key}.pending`, left);
      await server.restart();
      expect([readFileSync(key, 'utf8'), existsSync(`${key}.pending`)]).to.deep.equal([token, false]);
    }
  });

  it('stops at a pending key that differs from the delivered one, and keeps both', async () => {
    const token = readFileSync(key, 'utf8');
    await server.close();
    renameSync(key, `${key}.pending`);
    writePrivately(key, `abh_${'C'.repeat(43)}\n`);
    expect(await startError(server)).to.equal('ServeError key_file_differs');
    expect(readFileSync(`${key}.pending`, 'utf8')).to.equal(token);
    rmSync(key);
    await server.restart();
  });

  it('does not begin with a key file although nobody is there', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'board-service-team-'));
    writePrivately(join(dataDir, 'admin-key'), readFileSync(key, 'utf8'));
    expect(await startCode(engine, dataDir)).to.equal('key_file_differs');
    rmSync(dataDir, { recursive: true });
  });

  it('does not begin with key files that are links, or open to others', async () => {
    for (const name of ['admin-key', 'admin-key.pending']) {
      const dataDir = mkdtempSync(join(tmpdir(), 'board-service-team-'));
      symlinkSync(key, join(dataDir, name));
      expect(await startCode(engine, dataDir), name).to.equal('data_unsafe');
      rmSync(join(dataDir, name));
      writePrivately(join(dataDir, name), 'x');
      chmodSync(join(dataDir, name), 0o640);
      expect(await startCode(engine, dataDir), name).to.equal('data_unsafe');
      rmSync(dataDir, { recursive: true });
    }
  });
});

/** The code with which a start on another folder and an empty database fails. */
const startCode = (engine: Engine, dataDir: string, databaseUrl?: string): Promise<string> =>
  startTeamServer(engine, { dataDir, databaseUrl }).then(
    async (other) => {
      await other.close();
      return 'started';
    },
    (error: { code: string }) => error.code,
  );

forEachDatabase('what a team server is to the outside', (engine) => {
  let server: TeamServer;
  before(async () => {
    server = await startTeamServer(engine, { publicUrl: 'https://Team.Example.com:443' });
  });
  after(() => server.stop());

  const ask = (host: string | null, target = '/v1/info', ...more: string[]) =>
    exchange(
      `http://127.0.0.1:${server.listening.port}`,
      lines(`GET ${target} HTTP/1.1`, ...(host === null ? [] : [`Host: ${host}`]), ...more),
    );

  it('is the host of its public URL alone, whatever headers a proxy adds', async () => {
    expect(server.url).to.equal('https://team.example.com');
    // Under https its usual port says nothing.
    for (const host of ['team.example.com', 'TEAM.example.COM', 'team.example.com:443'])
      expect((await ask(host)).status, host).to.equal(200);
    const port = server.listening.port;
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      'team.example.com:80',
      'team.example.com:0443',
      'team.example.com:443:443',
      'team.example.com.',
      'evil.test',
      null,
    ]) {
      const answer = await ask(
        host,
        '/v1/info',
        'X-Forwarded-Host: team.example.com',
        'Forwarded: host=team.example.com',
      );
      expect([answer.status, answer.code, answer.headers.get('connection')], String(host)).to.deep.equal([
        421,
        'host_not_allowed',
        'close',
      ]);
    }
    const everywhere = ['/', '/nowhere', '/v1/boards', '/openapi.json'];
    for (const target of everywhere) expect((await ask('evil.test', target)).status, target).to.equal(421);
  });

  it('tells browsers to come over TLS only, on every answer', async () => {
    const hsts = 'max-age=31536000';
    for (const answer of [await ask('team.example.com'), await ask('evil.test'), await ask('team.example.com', '/no')])
      expect(answer.headers.get('strict-transport-security')).to.equal(hsts);
    const broken = await exchange(`http://127.0.0.1:${server.listening.port}`, 'no request\r\n\r\n');
    expect([broken.status, broken.headers.get('strict-transport-security')]).to.deep.equal([400, hsts]);
  });

  it('is another host where the public URL has a port', async () => {
    const other = await startTeamServer(engine, { publicUrl: 'https://team.example.com:8443' });
    const at = (host: string) =>
      exchange(`http://127.0.0.1:${other.listening.port}`, lines('GET /v1/info HTTP/1.1', `Host: ${host}`));
    expect((await at('team.example.com:8443')).status).to.equal(200);
    for (const host of ['team.example.com', 'team.example.com:443'])
      expect((await at(host)).status, host).to.equal(421);
    await other.stop();
  });
});

describe('several processes of one team', () => {
  const secretOf = (dataDir: string): string => join(dataDir, 'server-secret');
  const folder = (): string => mkdtempSync(join(tmpdir(), 'board-service-team-'));

  it('that start at once with one secret make one admin and one key file', async () => {
    for (let round = 0; round < 3; round++) {
      const databaseUrl = await newPostgresDatabase();
      const dirs = [folder(), folder(), folder()];
      for (const dir of dirs) writeFileSync(secretOf(dir), Buffer.alloc(32, round + 1), { mode: 0o600 });
      const servers = await Promise.all(dirs.map((dataDir) => startTeamServer('postgres', { dataDir, databaseUrl })));
      expect(await people(servers[0]!)).to.have.length(1);
      const holders = servers.filter(({ dataDir }) => existsSync(join(dataDir, 'admin-key')));
      expect(holders).to.have.length(1);
      const token = readFileSync(join(holders[0]!.dataDir, 'admin-key'), 'utf8').trim();
      for (const server of servers) expect(await server.client(token).ok('getMe')).to.include({ name: 'ana' });
      for (const server of servers) await server.stop();
    }
  });

  it('that start at once without a secret: one makes it, the others refuse and make none', async () => {
    const databaseUrl = await newPostgresDatabase();
    const dirs = [folder(), folder()];
    const tried = await Promise.allSettled(
      dirs.map((dataDir) => startTeamServer('postgres', { dataDir, databaseUrl })),
    );
    const started = tried.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(started).to.have.length(1);
    const other = dirs.find((dir) => dir !== started[0]!.dataDir)!;
    const refused = tried.find((result) => result.status === 'rejected') as PromiseRejectedResult;
    expect(refused.reason).to.include({ code: 'root_key_mismatch' });
    expect(existsSync(secretOf(other))).to.equal(false);

    copyFileSync(secretOf(started[0]!.dataDir), secretOf(other));
    const second = await startTeamServer('postgres', { dataDir: other, databaseUrl });
    const admin = started[0]!.admin().token;
    expect(await second.client(admin).ok('getMe')).to.include({ name: 'ana' });
    expect((await second.client().ok('getInfo')).server_id).to.equal(
      (await started[0]!.client().ok('getInfo')).server_id,
    );
    await second.close();
    writeFileSync(secretOf(other), Buffer.alloc(32, 9));
    expect(await startCode('postgres', other, databaseUrl)).to.equal('root_key_mismatch');
    rmSync(other, { recursive: true });
    await started[0]!.stop();
  });
});
