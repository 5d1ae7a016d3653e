/** Taking a data folder into use: its lock, its database, the root secret that belongs to both. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Clock, systemClock } from '../db/clock.ts';
import { StorageFull, Unreachable } from '../db/dialect.ts';
import { DataNewer, hasNoTable, migrationsIn, newestMigration, OlderServers } from '../db/migrate.ts';
import { migrate as migrateDatabase, openDatabase, sqliteFile } from '../db/open.ts';
import { isAway, mayComeBack, READ_ONLY } from '../db/postgres-connection.ts';
import { PooledByTransaction } from '../db/postgres-pooler.ts';
import type { Database } from '../db/tx.ts';
import type { RootKey } from '../text/root-key.ts';
import { lockInstance } from './instance-lock.ts';
import { ensurePrivate, prepareFolder, requirePrivate } from './private-files.ts';
import { bindDatabase, isBound, loadRootKey, requireSecretOf } from './root-secret.ts';
import { ServeError, unreachable } from './serve-error.ts';
import { lastUsed, rememberStorage, storageOf, storageThere, withoutPassword } from './storage.ts';

export interface DataOptions {
  /** Absolute path. */
  dataDir: string;
  /** `sqlite:///absolute/path` or `postgres://…`; default: `service.db` in the data folder. */
  db?: string | undefined;
  /** Whether an older database is migrated, or else refused. Default true. */
  migrate?: boolean | undefined;
  /** Only where there is a server already; nothing is made beside what a wrong folder or database holds. */
  existing?: boolean | undefined;
  /** The process that started this one and others holds the folder's lock. */
  supervised?: boolean | undefined;
  /** Seconds for which a database is asked again that cannot be reached yet, or that an older build still uses. Default 0. */
  waitForDb?: number | undefined;
  /** Most connections of this process to Postgres for reads and writes. */
  dbPool?: number | undefined;
}

/** What a start works with before anything is served. */
export interface Start {
  db: Database;
  /** Where the database is. */
  url: string;
  root: RootKey;
  dataDir: string;
}

interface DataInUse<T> extends Start {
  serverId: string;
  /** What `first` answered. */
  value: T;
  close(): Promise<void>;
}

type Log = Pick<Logger, 'info' | 'warn'>;

/** How often it is asked again. */
const AGAIN_MS = 500;

const PRIVATE = ['service.db', 'server-secret', 'local-key', 'admin-key', 'recovery-key', 'server.pid'];

/**
 * Opens a data folder for one process. @param first runs before anything else does, one process of a database at a time.
 * @param log told that the database is waited for and why, and what is changed in it.
 * @throws ServeError
 */
export async function useData<T>(
  options: DataOptions,
  clock: Clock,
  first: (start: Start) => Promise<T>,
  log?: Log,
): Promise<DataInUse<T>> {
  const { dataDir, existing } = options;
  if (existing && !existsSync(join(dataDir, 'server-secret'))) throw noServer(dataDir);
  prepareFolder(dataDir);
  for (const name of PRIVATE) requirePrivate(join(dataDir, name));
  const unlock = options.supervised ? () => {} : lockFolder(dataDir);
  try {
    const url = storageOf(dataDir, options.db);
    const until = clock.now() + (options.waitForDb ?? 0) * 1000;
    for (let told = false; ; told = true) {
      try {
        return await open(url, options, clock, first, unlock, log);
      } catch (error) {
        const passes = mayComeBack(error) || error instanceof OlderServers;
        if (!passes || clock.now() + AGAIN_MS > until) throw error;
        const about = { db: withoutPassword(url), reason: messageOf(error), seconds: options.waitForDb };
        if (!told) log?.warn(about, 'waiting for the database');
      }
      await setTimeout(AGAIN_MS);
    }
  } catch (error) {
    unlock();
    throw ofDatabase(error, dataDir);
  }
}

/** Takes a data folder for this process alone. @returns a function that frees it. @throws ServeError */
export function lockFolder(dataDir: string): () => void {
  try {
    return lockInstance(join(dataDir, 'server.lock'), dataDir);
  } catch (error) {
    throw ofDatabase(error, dataDir);
  }
}

async function open<T>(
  url: string,
  { dataDir, existing, migrate, dbPool }: DataOptions,
  clock: Clock,
  first: (start: Start) => Promise<T>,
  unlock: () => void,
  log?: Log,
): Promise<DataInUse<T>> {
  const lost = lostDatabase(dataDir, url);
  const missing = lost ?? (existing ? noServer(withoutPassword(url)) : null);
  if (url.startsWith('sqlite:')) {
    if (missing && !existsSync(sqliteFile(url))) throw missing;
    ensurePrivate(sqliteFile(url));
  }
  const db = await openDatabase({ url, clock, migrate: false, poolSize: dbPool });
  try {
    if (missing && existing && !(await holdsServer(db))) throw missing;
    await requireOwn(db, dataDir, lost);
    if (migrate !== false) await bringUp(db, url, log);
    else if ((await migrationsIn(db)).at(-1) !== newestMigration()) throw dataOlder();
    rememberStorage(dataDir, url);
    const free = await db.claim('start', Number.POSITIVE_INFINITY);
    const root = loadRootKey(dataDir, await isBound(db));
    const serverId = await bindDatabase(db, root, dataDir);
    const start = { db, url, root, dataDir };
    const value = await first(start);
    await free?.();
    const close = async () => {
      await db.close();
      unlock();
    };
    return { ...start, serverId, value, close };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function bringUp(db: Database, url: string, log?: Log): Promise<void> {
  let begun = false;
  const applied = await migrateDatabase(db, url, (missing) => {
    begun = true;
    log?.info({ migrations: missing }, 'the database is being brought up to date');
  });
  if (begun) log?.info({ migrations: applied }, 'the database is up to date');
}

const isFull = (error: unknown): boolean =>
  error instanceof StorageFull || ['SQLITE_FULL', '53100', 'ENOSPC', 'EDQUOT'].includes(causeOf(error).code ?? '');

const noRoom = (dataDir: string): ServeError =>
  new ServeError(
    'storage_full',
    `There is no room left for the server's data in ${dataDir}.`,
    'Free some space there, then run it again: nothing was lost.',
  );

/** Whether a database was ever a server's; looks without changing anything. */
const holdsServer = (db: Database): Promise<boolean> =>
  isBound(db).catch((error: unknown) => {
    if (hasNoTable(error)) return false;
    throw error;
  });

/** Looks into a folder's database, whose server may be running. @throws ServeError */
export async function lookInto<T>(
  { dataDir, db: named }: Pick<DataOptions, 'dataDir' | 'db'>,
  look: (db: Database, url: string) => Promise<T>,
): Promise<T> {
  const url = storageThere(dataDir, named);
  try {
    const db = await openDatabase({ url, clock: systemClock, migrate: false, readonly: true });
    return await look(db, url).finally(() => db.close());
  } catch (error) {
    throw needsFilesBeside(url, error) ? asMade(sqliteFile(url)) : ofDatabase(error, dataDir);
  }
}

/** Whether SQLite could not make the files that it needs beside a database in WAL mode, also to read it. */
function needsFilesBeside(url: string, error: unknown): boolean {
  if (!url.startsWith('sqlite:') || causeOf(error).code !== 'SQLITE_CANTOPEN') return false;
  const file = sqliteFile(url);
  try {
    accessSync(file, constants.R_OK);
  } catch {
    return false;
  }
  return statSync(file).isFile() && !existsSync(`${file}-wal`);
}

const asMade = (file: string): ServeError =>
  unreachable(
    `SQLite can read ${file} only where it can write files beside it.`,
    'Look at its disk, if it should be writable. A copy that needs no files beside it is made with VACUUM INTO, as in docs/deploy.md.',
  );

const NAME_IT = 'Name what the server was started with: --data, and --db if it has one.';

export const noServer = (place: string, hint = NAME_IT): ServeError =>
  unreachable(`There is no server in ${place}.`, hint);

/**
 * What is wrong where nothing is in a database, and a new server in it would leave the secret and the files of this folder
 * worthless; null: the folder holds none.
 */
export function lostDatabase(dataDir: string, url: string): ServeError | null {
  if (!existsSync(join(dataDir, 'server-secret'))) return null;
  const last = lastUsed(dataDir);
  const place = withoutPassword(url);
  if (last !== null && last !== place) {
    const alike = last.startsWith('sqlite:') === place.startsWith('sqlite:');
    const move = alike ? ' To move it, restore its backup in the other one first.' : '';
    return new ServeError(
      'storage_differs',
      `The server in ${dataDir} keeps its boards in ${last}, and there is no server in ${place}.`,
      `Name that one with --db.${move} For a new server, name another folder with --data.`,
    );
  }
  if (last === null && !existsSync(join(dataDir, 'files', 'sha256'))) return null;
  return noServer(
    place,
    `Restore the database from its backup, as in docs/deploy.md. To begin anew, move ${dataDir} away.`,
  );
}

/**
 * Refuses a database that has nothing in it although it should, or belongs to another root secret, before it is changed.
 * @param lost what `lostDatabase` says. @throws ServeError
 */
export async function requireOwn(db: Database, dataDir: string, lost: ServeError | null): Promise<void> {
  if ((await migrationsIn(db)).length > 0) await requireSecretOf(db, dataDir);
  else if (lost) throw lost;
}

const dataOlder = (): ServeError =>
  new ServeError(
    'data_older',
    'This data was written by an older build: the database needs to be migrated.',
    'Stop the server and start it without --no-migrate, or run service storage migrate while it is stopped.',
  );

/** Turns errors of the folder and of its database into messages for the operator; other errors stay as they are. */
export function ofDatabase(error: unknown, dataDir: string): unknown {
  if (isFull(error)) return noRoom(dataDir);
  if (error instanceof DataNewer)
    return new ServeError(
      'data_newer',
      `This data was written by a newer build: ${error.message}.`,
      'Install that build, or restore a backup.',
    );
  if (error instanceof OlderServers)
    return new ServeError(
      'already_running',
      `The database cannot be brought up to date: ${error.message}.`,
      'Stop all servers of this database, on other machines too, then start the new build.',
    );
  if (error instanceof PooledByTransaction)
    return new ServeError(
      'storage_unsupported',
      `The database cannot be used: ${error.message}.`,
      'Connect to Postgres directly, or through a pooler that hands them out per session: pool_mode = session of PgBouncer.',
    );
  if (error instanceof ServeError) return error;
  const { code } = causeOf(error);
  const message = messageOf(error);
  if (code === READ_ONLY)
    return unreachable(
      `The database takes no writes: ${message}.`,
      'It is a standby, or set to read only. Name the server that takes writes, or all of them, as in docs/deploy.md: postgres://USER@HOST1,HOST2/NAME',
    );
  if (/^SQLITE_(IOERR|READONLY|CANTOPEN)/.test(code ?? ''))
    return unreachable(
      `The server's data cannot be read or written: ${message}.`,
      `Look at its disk: it may be full, read-only or broken, as df -h and dmesg say. Then run it again. The data folder is ${dataDir}.`,
    );
  if (isAway(error) || /^(28|3D)/.test(code ?? '') || /SASL|password/.test(message))
    return unreachable(
      `The database cannot be used: ${message}`,
      'Check --db or SERVICE_DB, the password in PGPASSWORD or PGPASSFILE, and that the database is there.',
    );
  if (/^SQLITE_BUSY/.test(code ?? ''))
    return unreachable(
      `Another program has the database: ${message}.`,
      'Wait until it is done, or end it: a shell of sqlite3 with an open transaction, for example.',
    );
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code ?? ''))
    return unreachable(
      `The database is damaged: ${message}.`,
      'Stop the server, move the file of the database and what lies beside it (-wal, -shm) away, and put back its latest backup.',
    );
  if (hasNoTable(error))
    return unreachable(
      `The database holds no server of this build: ${message}.`,
      `${NAME_IT} Data of an older build: service storage migrate.`,
    );
  return error;
}

/** What went wrong in truth: an error of several addresses has no message of its own. */
function messageOf(error: unknown): string {
  const cause = causeOf(error);
  return cause instanceof AggregateError ? cause.errors.map(messageOf).join('; ') : cause.message;
}

const causeOf = (error: unknown): NodeJS.ErrnoException =>
  error instanceof Unreachable && error.cause instanceof Error ? causeOf(error.cause) : (error as Error);
