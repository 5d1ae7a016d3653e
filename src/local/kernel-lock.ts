/**
 * A lock that the operating system releases when its holder dies: an open write transaction on a small SQLite file. It
 * needs no add-on beyond the database's own. Its first byte decides: of two who begin an exclusive transaction at the same
 * moment each may find the other's reading lock in its way, and both would give up.
 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';

export interface KernelLock {
  release(): void;
}

/** A database that nothing refers to is closed by the garbage collector, which would end its lock. */
const held = new Set<Database.Database>();

/** Takes the lock at once; null when somebody holds it. The file is made with mode 0600 and stays. */
export function takeKernelLock(path: string): KernelLock | null {
  closeSync(openSync(path, 'a', 0o600));
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
