/** The true server on a free port, with a data folder of its own. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/server/db/open.ts';
import { insertKey } from '../../src/server/keys/credentials.store.ts';
import { insertPerson } from '../../src/server/people/people.store.ts';
import { type RunningServer, startServer } from '../../src/server/serve.ts';
import { newId, newSecret } from '../../src/server/text/ids.ts';
import type { RootKey } from '../../src/server/text/root-key.ts';
import { loadRootKey } from '../../src/server/upkeep/root-secret.ts';
import { Api } from './api.ts';
import { TestClock } from './clock.ts';
import { copyFolder } from './copy-folder.ts';
import type { Engine } from './databases.ts';
import { filesWith, finishedWith, newPostgresDatabase } from './postgres.ts';
import { readAsItCloses, Watch } from './secrets.ts';
import { until } from './until.ts';

export interface TestServer extends RunningServer {
  clock: TestClock;
  root: RootKey;
  /** Log lines so far, as JSON texts. */
  log: string[];
  databaseUrl: string | undefined;
  /** The person who owns the server: an admin, here called dana. */
  dana: Api;
  /** A client without a credential. */
  nobody: Api;
  /** Another person with a working key. */
  person(handle: string, role?: 'admin' | 'member' | 'guest', key?: KeyOptions): Promise<Api>;
  /** Stops the server and starts it again on the same data, so many milliseconds later. */
  restart(later?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface KeyOptions {
  /** Seconds from now. */
  expiresIn?: number;
  idleSeconds?: number;
}

export interface TestOptions {
  /** Attempts are limited as they are in truth; else a test may make as many as it likes from its one address. */
  limits?: boolean;
  /** Where files are kept; default: beside the database. */
  files?: string;
  filesQuota?: number;
  /** The data folder of a closed server, of which this one has a copy. */
  like?: string;
  /** One that the test has stopped, or holds back, from before the start on. */
  clock?: TestClock;
}

const MANY = 10_000;

export async function startTestServer(
  engine: Engine,
  { limits = false, files, filesQuota, like, clock = new TestClock() }: TestOptions = {},
): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'board-service-test-'));
  if (like !== undefined) copyFolder(like, dataDir);
  else if (engine === 'sqlite') writeFileSync(join(dataDir, 'service.db'), await migrated(), { mode: 0o600 });
  const log: string[] = [];
  const databaseUrl = engine === 'postgres' ? await newPostgresDatabase() : undefined;
  const start = (port: number) =>
    startServer({
      dataDir,
      host: '127.0.0.1',
      port,
      portFixed: true,
      db: databaseUrl,
      files: files ?? filesWith(databaseUrl),
      filesQuota,
      clock,
      attemptFactor: limits ? 1 : MANY,
      logLevel: 'debug',
      logTo: { write: (line) => void log.push(line) },
    });
  const running = await start(0);
  const watch = new Watch();
  const root = loadRootKey(dataDir);
  const key = readFileSync(join(dataDir, 'local-key'), 'utf8').trim();
  const server: TestServer = {
    ...running,
    clock,
    root,
    log,
    databaseUrl,
    dana: new Api(running.url, key),
    nobody: new Api(running.url),
    person: (handle, role = 'member', options = {}) => addPerson(server, handle, role, options),
    async restart(later = 0) {
      await server.close();
      clock.advance(later);
      Object.assign(server, await start(Number(new URL(running.url).port)));
      // The connections kept from before are dead; the client finds out by using them.
      await until(
        async () => (await fetch(`${running.url}/v1/info`).catch(() => null))?.ok === true,
        'it answers again',
      );
    },
    async stop() {
      const tables = databaseUrl === undefined ? undefined : readAsItCloses(server.db);
      await server.close();
      const secrets = await watch.end({ dataDir, databaseUrl, tables: tables?.(), log });
      rmSync(dataDir, { recursive: true, force: true });
      if (databaseUrl !== undefined) finishedWith(databaseUrl);
      if (secrets.length > 0) throw new Error(`secrets were found at rest: ${secrets.join('; ')}`);
    },
  };
  return server;
}

let template: Promise<Buffer> | null = null;

/** A SQLite file with the schema and nothing in it: migrating takes longer than copying. */
export function migrated(): Promise<Buffer> {
  template ??= migrate();
  return template;
}

async function migrate(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'board-service-migrated-'));
  const file = join(folder, 'service.db');
  await (await openDatabase({ url: `sqlite://${file}`, clock: new TestClock(), migrate: true })).close();
  const bytes = readFileSync(file);
  rmSync(folder, { recursive: true });
  return bytes;
}

/** A second server process's part: another server on the same database, with the same root secret. */
export async function startTwin(server: TestServer, { limits = false }: TestOptions = {}): Promise<RunningServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'board-service-twin-'));
  for (const file of ['server-secret', 'local-key']) copyFileSync(join(server.dataDir, file), join(dataDir, file));
  const twin = await startServer({
    dataDir,
    host: '127.0.0.1',
    port: 0,
    portFixed: true,
    db: server.databaseUrl,
    files: filesWith(server.databaseUrl),
    clock: server.clock,
    attemptFactor: limits ? 1 : MANY,
    logTo: { write: (line) => void server.log.push(line) },
  });
  return {
    ...twin,
    async close() {
      await twin.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function addPerson(
  server: TestServer,
  handle: string,
  role: 'admin' | 'member' | 'guest',
  { expiresIn, idleSeconds }: KeyOptions,
): Promise<Api> {
  const token = newSecret('key');
  const id = await server.db.write(async (tx) => {
    const person = {
      id: newId('hum', tx.now),
      handle,
      display_name: null,
      server_role: role,
      created_at: tx.now,
      removed_at: null,
      removed_by: null,
      midturn_policy: null,
    };
    await insertPerson(tx, person);
    await insertKey(tx, {
      id: newId('key', tx.now),
      person_id: person.id,
      name: 'laptop',
      digest: server.root.digest(token),
      created_at: tx.now,
      expires_at: expiresIn === undefined ? null : tx.now + expiresIn * 1000,
      idle_seconds: idleSeconds ?? null,
      origin: 'created',
      parent_key_id: null,
    });
    return person.id;
  });
  return new Api(server.url, token, id);
}
