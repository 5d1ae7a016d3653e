/** The composition root: data folder, database, areas, door, and their end in the opposite order. */
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ServerInfo } from '../contract/types.ts';
import { createBackend } from './backend.ts';
import { type Clock, systemClock } from './db/clock.ts';
import { DataNewer } from './db/migrate.ts';
import { openDatabase, sqliteFile } from './db/open.ts';
import type { Database } from './db/tx.ts';
import { createApp } from './http/app.ts';
import { drainable } from './http/drain.ts';
import { rawRefusal } from './http/raw.ts';
import { localSite } from './http/site.ts';
import { LastUse } from './identity/last-use.ts';
import { schedulePurge } from './jobs/purge.ts';
import { Live } from './live/live.ts';
import { ensureLocalPerson } from './upkeep/first-person.ts';
import { lockInstance } from './upkeep/instance-lock.ts';
import { listen } from './upkeep/listen.ts';
import { type LogOptions, makeLogger } from './upkeep/logger.ts';
import { ensurePrivate, prepareFolder, requirePrivate } from './upkeep/private-files.ts';
import { bindDatabase, isBound, loadRootKey } from './upkeep/root-secret.ts';
import { ServeError } from './upkeep/serve-error.ts';
import { rememberStorage, storageOf } from './upkeep/storage.ts';
import { buildOf } from './upkeep/version.ts';

export { ServeError } from './upkeep/serve-error.ts';

export interface ServeOptions extends LogOptions {
  /** Absolute path. */
  dataDir: string;
  host: string;
  port: number;
  /** Never try the next port. */
  portFixed: boolean;
  /** `sqlite:///absolute/path` or `postgres://…`; default: `service.db` in the data folder. */
  db?: string;
  /** Default true. */
  migrate?: boolean;
  clock?: Clock;
}

export interface RunningServer {
  url: string;
  mode: 'local';
  dataDir: string;
  /** Nobody was on this server before. */
  firstStart: boolean;
  /** The port that was taken, if the server listens on another one for that reason. */
  movedFrom: number | null;
  personHandle: string;
  /** The database, for tests and tools of the same process. */
  db: Database;
  /** Takes no new requests, lets running ones finish for up to 10 seconds, then closes everything. */
  close(): Promise<void>;
}

const DRAIN_MS = 10_000;
/** Where clients look when nothing else is recorded. */
const DEFAULT_PORT = 7400;

/** Starts a local server. @throws ServeError */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { dataDir } = options;
  const clock = options.clock ?? systemClock;
  const log = makeLogger(options);
  prepareFolder(dataDir);
  for (const name of ['service.db', 'server-secret', 'local-key', 'server.pid']) requirePrivate(join(dataDir, name));
  const unlock = lockInstance(join(dataDir, 'server.lock'), dataDir);
  const undo: (() => Promise<void> | void)[] = [unlock];
  try {
    const url = storageOf(dataDir, options.db);
    if (url.startsWith('sqlite:')) ensurePrivate(sqliteFile(url));
    const db = await open(url, clock, options.migrate ?? true);
    undo.unshift(() => db.close());
    rememberStorage(dataDir, url);
    const { root } = loadRootKey(dataDir, await isBound(db));
    const serverId = await bindDatabase(db, root);
    const person = await ensureLocalPerson({ db, root, dataDir });

    const lastUse = new LastUse(db, log);
    const live = new Live(db, clock, (caller, now) => lastUse.note(caller, now));
    await live.start(log);
    const info = infoOf(serverId, db);
    const server = createHttp({ db, root, live, info, lastUse, site: localSite(() => port) }, log, clock);
    const drain = drainable(server);
    const stopPurge = schedulePurge(db, clock, log);
    undo.unshift(stopPurge);
    let port = 0;
    const bound = await listen(server, options);
    port = (server.address() as AddressInfo).port;
    const origin = `http://${options.host}:${port}`;
    writeAddress(dataDir, port);
    writePid(dataDir, origin, info.version);
    log.info({ url: origin, db: info.storage.db, data: dataDir }, 'listening');
    return {
      url: origin,
      mode: 'local',
      dataDir,
      firstStart: person.fresh,
      movedFrom: bound.movedFrom,
      personHandle: person.handle,
      db,
      close: once(() => shutDown(drain, live, undo, dataDir, log)),
    };
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
}

function once(fn: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= fn();
    return running;
  };
}

async function open(url: string, clock: Clock, migrate: boolean): Promise<Database> {
  try {
    return await openDatabase({ url, clock, migrate });
  } catch (error) {
    if (error instanceof DataNewer) {
      throw new ServeError(
        'data_newer',
        `This data was written by a newer build: ${error.message}.`,
        'Install that build, or restore a backup.',
      );
    }
    const { code } = error as NodeJS.ErrnoException;
    const { message } = error as Error;
    if (/^(ECONN|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|28|3D|08)/.test(code ?? '') || /SASL|password/.test(message)) {
      throw new ServeError(
        'storage_unreachable',
        `The database cannot be used: ${message}`,
        'Check --db or SERVICE_DB, the password in PGPASSWORD or PGPASSFILE, and that the database is there.',
      );
    }
    throw error;
  }
}

function infoOf(serverId: string, db: Database): ServerInfo {
  return {
    name: 'service',
    ...buildOf(),
    server_id: serverId,
    mode: 'local',
    features: ['board_stream', 'pagination'],
    storage: { db: db.dialect.name, files: 'disk' },
  };
}

function createHttp(parts: Parameters<typeof createBackend>[0], log: Logger, clock: Clock): Server {
  const app = createApp({
    backend: createBackend(parts),
    site: parts.site,
    log,
    now: () => clock.now(),
    after: (ms, fn) => clock.after(ms, fn),
  });
  const server = createServer(
    { requireHostHeader: false, maxHeaderSize: 65_536, noDelay: true, keepAlive: true },
    app.callback(),
  );
  server.headersTimeout = 10_000;
  server.requestTimeout = 0;
  server.keepAliveTimeout = 65_000;
  // An expectation this server does not know is no reason not to answer.
  server.on('checkExpectation', app.callback());
  server.on('clientError', rawRefusal);
  return server;
}

/** Clients look at 7400 unless this file names another port. */
function writeAddress(dataDir: string, port: number): void {
  const file = join(dataDir, 'server.addr');
  if (port === DEFAULT_PORT) rmSync(file, { force: true });
  else writeFileSync(file, `127.0.0.1:${port}\n`, { mode: 0o600 });
}

function writePid(dataDir: string, url: string, version: string): void {
  const content = { pid: process.pid, url, version, started_at: new Date().toISOString() };
  writeFileSync(join(dataDir, 'server.pid'), `${JSON.stringify(content)}\n`, { mode: 0o600 });
}

async function shutDown(
  drain: (limitMs: number) => Promise<void>,
  live: Live,
  undo: (() => Promise<void> | void)[],
  dataDir: string,
  log: Logger,
): Promise<void> {
  log.info('shutting down');
  live.close();
  await drain(DRAIN_MS);
  for (const step of undo) await step();
  rmSync(join(dataDir, 'server.pid'), { force: true });
  log.info('stopped');
}
