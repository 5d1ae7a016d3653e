/**
 * A lock that the system itself gives back when its holder dies: an open exclusive transaction on a small SQLite file. It
 * needs no add-on beyond the database's own.
 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';

export interface KernelLock {
  release(): void;
}

/** Takes the lock at once; null when somebody holds it. The file is made with mode 0600 and stays. */
export function takeKernelLock(path: string): KernelLock | null {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const database = new Database(path, { timeout: 0 });
  try {
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return null;
    throw error;
  }
  return { release: () => void database.close() };
}
