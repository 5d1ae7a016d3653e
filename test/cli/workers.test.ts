/** A team's server of several processes on one port. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import type { Message } from '../../src/contract/types.ts';
import { newestMigration } from '../../src/server/db/migrate.ts';
import { freePort } from '../support/free-port.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { collect, finished, Home, until } from './support/home.ts';

const HOST = 'team.example.com';
/** Several processes start one after the other. */
const STARTS_MS = 120_000;

/** Calls the server as a proxy in front of it would; without an agent each call is a connection of its own. */
function call(
  port: number,
  method: string,
  path: string,
  key: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = {
      Host: HOST,
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
    };
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: new Agent() }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

describe('a team’s server of several workers', function () {
  this.timeout(3 * STARTS_MS);
  const home = new Home({ bare: true });
  const data = mkdtempSync(join(tmpdir(), 'board-workers-'));
  let port = 0;
  let db = '';
  let child: ChildProcess;
  let printed: () => { stdout: string; stderr: string };

  const flags = () => ['--public-url', `https://${HOST}`, '--data', data, '--listen', `127.0.0.1:${port}`];
  const start = (env: Record<string, string>): ChildProcess =>
    home.start(['serve', '--team', ...flags(), '--admin', 'ana'], { env });
  const shared = (workers: number) => ({
    SERVICE_DB: db,
    SERVICE_FILES: 'db:',
    SERVICE_WORKERS: String(workers),
    // Three of them may open more than Postgres takes.
    SERVICE_DB_POOL: '100',
  });
  const workersOf = (): number[] => {
    try {
      return execFileSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)])
        .toString()
        .trim()
        .split(/\s+/)
        .map(Number);
    } catch {
      return [];
    }
  };
  let database: pg.Client;
  /** Whether there are so many workers and each is connected for wake-ups, as one that still starts is not. */
  const serving = async (count: number): Promise<boolean> => {
    const connected = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'service-wake'`;
    return workersOf().length === count && (await database.query(connected)).rowCount === count;
  };
  const listening = (): number => printed().stderr.split('"listening"').length - 1;
  const warned = (): number => printed().stderr.split('the database takes fewer connections').length - 1;
  const key = (): string => readFileSync(join(data, 'admin-key'), 'utf8').trim();

  before(async () => {
    port = await freePort();
    db = await newPostgresDatabase();
    database = new pg.Client(db);
    await database.connect();
    child = start(shared(3));
    printed = collect(child);
    await until('all of them listen', () => listening() === 3, STARTS_MS);
  });
  after(async () => {
    child.kill('SIGKILL');
    await finished(child);
    await home.close();
    await database.end();
    rmSync(data, { recursive: true, force: true });
  });

  it('say once where they listen, and each of them serves', async () => {
    expect(printed().stderr.match(/Listening at 127\.0\.0\.1:\d+ for https:\/\/team\.example\.com\./g)).to.have.length(
      1,
    );
    expect(printed().stderr.match(/The first admin is @ana/g)).to.have.length(1);
    expect(warned()).to.equal(1);
    expect(workersOf()).to.have.length(3);
    expect(JSON.parse(readFileSync(join(data, 'server.pid'), 'utf8'))).to.include({ pid: child.pid });
    const made = await call(port, 'POST', '/v1/boards', key(), { name: 'shared' });
    expect(made.status, made.text).to.equal(201);
    const posts = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        call(port, 'POST', '/v1/boards/shared/messages', key(), { body: `text ${n}` }),
      ),
    );
    expect(new Set(posts.map(({ status }) => status))).to.deep.equal(new Set([201]));
  });

  it('are not two servers: the folder belongs to the one that looks after them', async () => {
    const second = start({ ...shared(2), SERVICE_LISTEN: '' });
    const said = collect(second);
    expect((await finished(second)).code).to.equal(1);
    expect(said().stderr).to.include('Another server uses');
  });

  it('go on when one of them is killed, and another one takes its place', async () => {
    const [victim] = workersOf();
    process.kill(victim ?? 0, 'SIGKILL');
    await until('a worker is missed', () => printed().stderr.includes('A worker died; another one starts in 1 s.'));
    const said = await call(port, 'POST', '/v1/boards/shared/messages', key(), { body: 'meanwhile' });
    expect(said.status, said.text).to.equal(201);
    await until('there are three again', () => listening() === 4 && workersOf().length === 3, STARTS_MS);
  });

  it('are replaced one by one on SIGHUP, while posts go on', async () => {
    const before = workersOf();
    const statuses: number[] = [];
    let posting = true;
    const writers = Array.from({ length: 4 }, async () => {
      while (posting)
        statuses.push((await call(port, 'POST', '/v1/boards/shared/messages', key(), { body: 'on' })).status);
    });
    child.kill('SIGHUP');
    await until('all were replaced', () => printed().stderr.includes('All workers were replaced.'), STARTS_MS);
    posting = false;
    await Promise.all(writers);
    expect(new Set(statuses)).to.deep.equal(new Set([201]));
    const after = workersOf();
    expect(after).to.have.length(3);
    expect(after.filter((pid) => before.includes(pid))).to.deep.equal([]);
    expect(warned()).to.equal(1);
    const { text } = await call(port, 'GET', '/v1/boards/shared/messages?newest=true&limit=200', key());
    const { messages } = JSON.parse(text) as { messages: Message[] };
    expect(messages.filter(({ body }) => body === 'on')).to.have.length(Math.min(statuses.length, 200));
  });

  it('are all replaced also where one of them dies meanwhile', async () => {
    const before = workersOf();
    const replaced = () => printed().stderr.split('All workers were replaced.').length - 1;
    const reloads = replaced();
    child.kill('SIGHUP');
    process.kill(before.at(-1) ?? 0, 'SIGKILL');
    await until('all were replaced', () => replaced() > reloads, STARTS_MS);
    await until('there are three', () => serving(3), STARTS_MS);
    expect(workersOf().filter((pid) => before.includes(pid))).to.deep.equal([]);
    child.kill('SIGHUP');
    await until('all were replaced again', () => replaced() > reloads + 1, STARTS_MS);
  });

  it('are as many as before also where one dies in its own turn', async () => {
    const before = workersOf();
    const replaced = () => printed().stderr.split('All workers were replaced.').length - 1;
    const reloads = replaced();
    child.kill('SIGHUP');
    await until('the first is being replaced', () => workersOf().length > before.length);
    process.kill(before[0] ?? 0, 'SIGKILL');
    const died = performance.now();
    await until('all were replaced', () => replaced() > reloads, STARTS_MS);
    // Until another one would have been started for it.
    const pause =
      Number(
        printed()
          .stderr.match(/starts in (\d+) s/g)
          ?.at(-1)
          ?.match(/\d+/)?.[0],
      ) * 1_000;
    for (let n = reloads + 1; performance.now() < died + pause + 1_000; n++) {
      child.kill('SIGHUP');
      await until('all were replaced again', () => replaced() > n, STARTS_MS);
    }
    await until('as many as before', () => serving(before.length), STARTS_MS);
  });

  it('are all replaced when that is asked for again while a new one hangs', async () => {
    const before = workersOf();
    const replaced = () => printed().stderr.split('All workers were replaced.').length - 1;
    const reloads = replaced();
    child.kill('SIGHUP');
    const fresh = () => workersOf().find((pid) => !before.includes(pid)) ?? 0;
    await until('a new one starts', () => fresh() > 0, STARTS_MS);
    const hanging = fresh();
    process.kill(hanging, 'SIGSTOP');
    child.kill('SIGHUP');
    await until('all were replaced', () => replaced() > reloads, STARTS_MS);
    await until('there are as many as before', () => serving(before.length), STARTS_MS);
    expect(workersOf().filter((pid) => [...before, hanging].includes(pid))).to.deep.equal([]);
  });

  it('are all replaced also where one of them hangs while it serves', async () => {
    const before = workersOf();
    const replaced = () => printed().stderr.split('All workers were replaced.').length - 1;
    const reloads = replaced();
    process.kill(before[0] ?? 0, 'SIGSTOP');
    child.kill('SIGHUP');
    await until('all were replaced', () => replaced() > reloads, STARTS_MS);
    await until('there are as many as before', () => serving(before.length), STARTS_MS);
    expect(workersOf().filter((pid) => before.includes(pid))).to.deep.equal([]);
  });

  it('are not replaced by those of a build that would change the database under them', async () => {
    const before = workersOf();
    const newest = { text: 'DELETE FROM migrations WHERE name = $1 RETURNING batch', values: [newestMigration()] };
    const [{ batch }] = (await database.query<{ batch: number }>(newest)).rows as [{ batch: number }];
    child.kill('SIGHUP');
    await until('the reload ended', () => printed().stderr.includes('reload_failed'), STARTS_MS);
    expect(printed().stderr).to.include('the database needs to be migrated');
    expect((await database.query(newest)).rowCount, 'migrations meanwhile').to.equal(0);
    const row = [newestMigration(), batch];
    await database.query('INSERT INTO migrations (name, batch, migration_time) VALUES ($1, $2, now())', row);
    expect(workersOf()).to.deep.equal(before);
    expect((await call(port, 'POST', '/v1/boards/shared/messages', key(), { body: 'still' })).status).to.equal(201);
  });

  it('end together, also one that starts, and leave nothing behind', async () => {
    const before = workersOf();
    process.kill(before[0] ?? 0, 'SIGKILL');
    const starting = () => workersOf().find((pid) => !before.includes(pid)) ?? 0;
    await until('another one starts', () => starting() > 0, STARTS_MS);
    const halted = starting();
    process.kill(halted, 'SIGSTOP');
    child.kill('SIGTERM');
    const gone = (pid: number): boolean => !existsSync(`/proc/${pid}`);
    await until('the others are gone', () => before.every(gone));
    process.kill(halted, 'SIGCONT');
    expect((await finished(child)).code).to.equal(0);
    expect(gone(halted), 'the one that started').to.equal(true);
    expect(existsSync(join(data, 'server.pid'))).to.equal(false);
  });

  it('are all replaced also where that is asked for before the first of them serves', async () => {
    child = start(shared(2));
    printed = collect(child);
    await until('the first one starts', () => workersOf().some((pid) => pid > 0), STARTS_MS);
    const [first = 0] = workersOf();
    process.kill(first, 'SIGSTOP');
    child.kill('SIGHUP');
    process.kill(first, 'SIGCONT');
    await until('all were replaced', () => printed().stderr.includes('All workers were replaced.'), STARTS_MS);
    await until('there are two', () => serving(2), STARTS_MS);
    expect(workersOf()).not.to.include(first);
  });

  it('are all replaced, and none counts as dead, also where one of them does not serve yet', async () => {
    const before = workersOf();
    expect(before).to.have.length(2);
    const count = (text: string) => printed().stderr.split(text).length - 1;
    const reloads = count('All workers were replaced.');
    process.kill(before[0] ?? 0, 'SIGKILL');
    const starting = () => workersOf().find((pid) => !before.includes(pid)) ?? 0;
    await until('another one starts', () => starting() > 0, STARTS_MS);
    const halted = starting();
    process.kill(halted, 'SIGSTOP');
    child.kill('SIGHUP');
    await until('all were replaced', () => count('All workers were replaced.') > reloads, STARTS_MS);
    await until('there are two', () => serving(2), STARTS_MS);
    expect(workersOf().filter((pid) => [...before, halted].includes(pid))).to.deep.equal([]);
    expect(count('A worker died')).to.equal(1);
    child.kill('SIGTERM');
    expect((await finished(child)).code).to.equal(0);
  });

  for (const [fault, instead] of [
    ['is gone', () => {}],
    ['has a file in place of its folder', (folder: string) => writeFileSync(folder, '')],
  ] as const)
    it(`go on where the program that would run another one ${fault}`, async () => {
      const folder = join(home.work, 'node');
      mkdirSync(folder);
      copyFileSync(process.execPath, join(folder, 'node'));
      child = home.startShell(`exec service serve --team ${flags().join(' ')}`, {
        env: { ...shared(4), PATH: `${folder}:${home.env['PATH']}` },
      });
      printed = collect(child);
      await until('all of them listen', () => listening() === 4, STARTS_MS);
      rmSync(folder, { recursive: true });
      instead(folder);
      const before = workersOf();
      child.kill('SIGHUP');
      await until('the reload ended', () => printed().stderr.includes('reload_failed'), STARTS_MS);
      expect(workersOf()).to.deep.equal(before);
      for (const pid of before.slice(1)) process.kill(pid, 'SIGKILL');
      await until('none starts, also later', () => printed().stderr.includes('it is tried again in 2 s'));
      expect(printed().stderr).to.match(/A worker cannot be started \((ENOENT|ENOTDIR)\)\./);
      expect(printed().stderr.split('A worker died').length - 1).to.equal(3);
      expect((await call(port, 'POST', '/v1/boards/shared/messages', key(), { body: 'still' })).status).to.equal(201);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      copyFileSync(process.execPath, join(folder, 'node'));
      await until('there are as many as before', () => serving(4), STARTS_MS);
      child.kill('SIGTERM');
      expect((await finished(child)).code).to.equal(0);
      rmSync(folder, { recursive: true });
    });

  it('that die five times within a minute end the server', async () => {
    child = start(shared(5));
    printed = collect(child);
    await until('all of them listen', () => listening() === 5, STARTS_MS);
    for (const pid of workersOf()) process.kill(pid, 'SIGKILL');
    expect((await finished(child)).code).to.equal(1);
    expect(printed().stderr).to.include('5 workers died within a minute; the server ends.');
  });

  it('are refused where they could not share the database or the files', async () => {
    const lacking: Record<string, string>[] = [{}, { SERVICE_DB: db }];
    for (const more of lacking) {
      const refused = start({ SERVICE_WORKERS: '2', ...more });
      const said = collect(refused);
      expect((await finished(refused)).code).to.equal(2);
      expect(said().stderr).to.include('Several workers need a Postgres, and the files in it or in S3.');
    }
    const wrong = start({ ...shared(33) });
    const said = collect(wrong);
    expect((await finished(wrong)).code).to.equal(2);
    expect(said().stderr).to.include('SERVICE_WORKERS is "33", but must be a number of 1 to 32');
  });
});
