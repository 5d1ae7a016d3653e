/** Taking a data folder into use: its lock, its database, the root secret that belongs to both. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../db/clock.ts';
import { StorageFull } from '../db/dialect.ts';
import { DataNewer } from '../db/migrate.ts';
import { openDatabase, sqliteFile } from '../db/open.ts';
import type { Database } from '../db/tx.ts';
import type { RootKey } from '../identity/root-key.ts';
import { lockInstance } from './instance-lock.ts';
import { ensurePrivate, prepareFolder, requirePrivate } from './private-files.ts';
import { bindDatabase, isBound, loadRootKey } from './root-secret.ts';
import { ServeError } from './serve-error.ts';
import { rememberStorage, storageOf, withoutPassword } from './storage.ts';

export interface DataOptions {
  /** Absolute path. */
  dataDir: string;
  /** `sqlite:///absolute/path` or `postgres://…`; default: `service.db` in the data folder. */
  db?: string | undefined;
  /** Default true. */
  migrate?: boolean | undefined;
  /** Only where there is a server already; nothing is made beside what a wrong folder or database holds. */
  existing?: boolean | undefined;
}

/** What a start works with before anything is served. */
export interface Start {
  db: Database;
  root: RootKey;
  dataDir: string;
}

export interface DataInUse<T> extends Start {
  serverId: string;
  /** Where the database is. */
  url: string;
  /** What `first` answered. */
  value: T;
  close(): Promise<void>;
}

const PRIVATE = ['service.db', 'server-secret', 'local-key', 'admin-key', 'recovery-key', 'server.pid'];

/**
 * Opens a data folder for one process. @param first runs before anything else does, one process of a database at a time.
 * @throws ServeError
 */
export async function useData<T>(
  { dataDir, db: named, migrate, existing }: DataOptions,
  clock: Clock,
  first: (start: Start) => Promise<T>,
): Promise<DataInUse<T>> {
  if (existing && !existsSync(join(dataDir, 'server-secret'))) throw noServer(dataDir);
  prepareFolder(dataDir);
  for (const name of PRIVATE) requirePrivate(join(dataDir, name));
  const unlock = lockInstance(join(dataDir, 'server.lock'), dataDir);
  let db: Database | null = null;
  const close = async () => {
    await db?.close();
    unlock();
  };
  try {
    const url = storageOf(dataDir, named);
    if (existing && !(await holdsServer(url, clock))) throw noServer(withoutPassword(url));
    if (url.startsWith('sqlite:')) ensurePrivate(sqliteFile(url));
    const opened = await open(url, clock, migrate ?? true);
    db = opened;
    rememberStorage(dataDir, url);
    return await opened.alone(async () => {
      const { root } = loadRootKey(dataDir, await isBound(opened));
      const serverId = await bindDatabase(opened, root);
      const start = { db: opened, root, dataDir };
      return { ...start, serverId, url, value: await first(start), close };
    });
  } catch (error) {
    await close();
    throw isFull(error) ? noRoom(dataDir) : error;
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof StorageFull ||
  ['SQLITE_FULL', '53100', 'ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

const noRoom = (dataDir: string): ServeError =>
  new ServeError(
    'storage_full',
    `There is no room left for the server's data in ${dataDir}.`,
    'Free some space there, then start it again: nothing was lost.',
  );

/** Whether a database was ever a server's; looks without changing anything. */
async function holdsServer(url: string, clock: Clock): Promise<boolean> {
  if (url.startsWith('sqlite:') && !existsSync(sqliteFile(url))) return false;
  const db = await open(url, clock, false);
  try {
    return await isBound(db);
  } catch (error) {
    if (/no such table|relation .* does not exist/.test((error as Error).message)) return false;
    throw error;
  } finally {
    await db.close();
  }
}

export const noServer = (place: string): ServeError =>
  new ServeError(
    'storage_unreachable',
    `There is no server in ${place}.`,
    'Name what the server was started with: --data, and --db if it has one.',
  );

async function open(url: string, clock: Clock, migrate: boolean): Promise<Database> {
  try {
    return await openDatabase({ url, clock, migrate });
  } catch (error) {
    throw ofDatabase(error);
  }
}

/** What a database is refused with, in words for whoever runs the server; everything else as it is. */
export function ofDatabase(error: unknown): unknown {
  if (error instanceof DataNewer) {
    return new ServeError(
      'data_newer',
      `This data was written by a newer build: ${error.message}.`,
      'Install that build, or restore a backup.',
    );
  }
  const { code } = error as NodeJS.ErrnoException;
  const { message } = error as Error;
  if (/^(ECONN|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|28|3D|08)/.test(code ?? '') || /SASL|password/.test(message)) {
    return new ServeError(
      'storage_unreachable',
      `The database cannot be used: ${message}`,
      'Check --db or SERVICE_DB, the password in PGPASSWORD or PGPASSFILE, and that the database is there.',
    );
  }
  return error;
}
