/**
 * One server per data folder. The lock is SQLite's own lock for writing an empty file: the operating system frees it
 * when the process ends, however it ends, so there is no stale lock to judge.
 */
import Sqlite from 'better-sqlite3';
import { ensurePrivate } from './private-files.ts';
import { ServeError } from './serve-error.ts';

/** @returns a function that frees it. @throws ServeError `already_running`. */
export function lockInstance(file: string, dataDir: string): () => void {
  ensurePrivate(file);
  const db = new Sqlite(file, { timeout: 0 });
  try {
    // Nothing is written, so a full disk keeps no server from starting.
    db.pragma('journal_mode = MEMORY');
    // Not exclusive: of two that begin at once both could fail.
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    db.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY') !== true) throw error;
    throw new ServeError(
      'already_running',
      `Another server uses ${dataDir}.`,
      'Stop that one first (this machine’s own: service server stop), or name another folder with --data.',
    );
  }
  return () => db.close();
}
