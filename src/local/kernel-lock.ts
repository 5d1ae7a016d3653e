/**
 * A lock that the operating system releases when its holder dies: an open write transaction on a small SQLite file.
 * `BEGIN IMMEDIATE`, because with `BEGIN EXCLUSIVE` two concurrent attempts can block each other and both fail.
 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';

export interface KernelLock {
  release(): void;
}

/** Prevents garbage collection, which would close the database and release its lock. */
const held = new Set<Database.Database>();

/** Tries to take the lock; null if it is held. The file is created with mode 0600 and stays. */
export function takeKernelLock(path: string): KernelLock | null {
  // Nothing is ever written to it, so what it holds is damage, which is taken out.
  closeSync(openSync(path, 'w', 0o600));
  chmodSync(path, 0o600);
  const database = new Database(path, { timeout: 0 });
  try {
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return null;
    throw error;
  }
  held.add(database);
  const release = (): void => {
    held.delete(database);
    database.close();
  };
  return { release };
}

/** Whether nobody holds the lock. */
export function isLockFree(path: string): boolean {
  const lock = takeKernelLock(path);
  lock?.release();
  return lock !== null;
}
