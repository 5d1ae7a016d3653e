/** Checks from another process whether the daemon's journal can be used. */
import Sqlite from 'better-sqlite3';
import { requireWhole } from './open.ts';
import { migrations } from './schema.ts';

/**
 * Reads the journal; with `write` also writes without changing its content, because only a write detects a full disk.
 * @returns `newer` for a journal of a newer program. @throws SqliteError
 */
export function probeJournal(path: string, write: boolean): 'newer' | 'usable' {
  const db = new Sqlite(path, { fileMustExist: true, timeout: 2_000 });
  try {
    const version = () => db.pragma('user_version', { simple: true }) as number;
    if (version() > migrations.length) return 'newer';
    requireWhole(db);
    // A daemon that starts meanwhile may have migrated it: its version is read and written as one.
    if (write) db.transaction(() => db.pragma(`user_version = ${version()}`)).immediate();
    return 'usable';
  } finally {
    db.close();
  }
}
