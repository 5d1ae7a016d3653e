/** Opens the journal: durable, migrated to this program's schema; a corrupt file is renamed and replaced. */
import { chmodSync, closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { Failure } from '../../local/failure.ts';
import { migrations } from './schema.ts';

/**
 * @returns the database, and where a corrupt journal was moved, if there was one
 * @throws Failure `data_newer` for a file of a newer program, `internal` if it cannot be opened or written
 */
export function openJournal(path: string) {
  try {
    return { db: openDatabase(path), movedTo: null };
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (!isCorrupt(path, error)) throw unusable(path, error);
  }
  const corruptPath = `${path}.corrupt-${Date.now()}`;
  for (const end of ['', '-wal', '-shm']) if (existsSync(path + end)) renameSync(path + end, corruptPath + end);
  return { db: openDatabase(path), movedTo: corruptPath };
}

function openDatabase(path: string): Sqlite.Database {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const db = new Sqlite(path, { timeout: 5000 });
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    // On macOS a sync alone ends in the cache of the drive. Elsewhere this changes nothing.
    db.pragma('fullfsync = ON');
    db.pragma('foreign_keys = ON');
    db.pragma('cache_size = -4096');
    const version = db.pragma('user_version', { simple: true }) as number;
    if (version > migrations.length) throw madeByNewer(path, version);
    requireWhole(db);
    for (let step = Math.max(0, version); step < migrations.length; step++) migrate(db, step);
    // Fails where the header says that the file is only to be read. Nothing is written, because the disk may be full.
    db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${migrations.length}; ROLLBACK`);
    // better-sqlite3 falls back to NORMAL after the first write unless FULL was set explicitly.
    if (db.pragma('synchronous', { simple: true }) !== 2) throw new Error('SQLite is not durable here');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function migrate(db: Sqlite.Database, step: number): void {
  db.transaction(() => {
    db.exec(migrations[step]!);
    db.pragma(`user_version = ${step + 1}`);
  })();
}

/** Checks tables and indexes: with a damaged index, what is written fails. @throws an error with the code SQLITE_CORRUPT */
export function requireWhole(db: Sqlite.Database): void {
  const check = db.pragma('integrity_check(1)', { simple: true });
  if (check !== 'ok') throw Object.assign(new Error(String(check)), { code: 'SQLITE_CORRUPT' });
}

/** SQLITE_ERROR is for a schema that cannot be read, or is not the one of its version. */
const isCorrupt = (path: string, error: unknown): boolean => {
  const { code } = error as { code?: unknown };
  return /^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(String(code)) || (code === 'SQLITE_READONLY' && forbidsWriting(path));
};

/** Whether the header says that the file is only to be read. The error is the same where this user may not write its log. */
const forbidsWriting = (path: string): boolean => readFileSync(path)[18]! > 2;

function madeByNewer(path: string, version: number): Failure {
  return new Failure('data_newer', `${path} is of a newer program (schema ${version}); it was left alone.`, {
    hint: 'Install that program again, or a newer one.',
  });
}

function unusable(path: string, error: unknown): Failure {
  return new Failure('internal', `${path} cannot be used: ${(error as Error).message}.`, {
    hint: 'See that the disk has room and that the file is yours.',
    exit: 1,
  });
}
