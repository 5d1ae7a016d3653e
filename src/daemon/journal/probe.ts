/** Checks from outside the daemon whether its journal can be used. */
import Sqlite from 'better-sqlite3';
import { migrations } from './schema.ts';

/**
 * Looks into the journal, and with `write` makes it write without changing what it holds: a full disk is only noticed by
 * what is really written. @returns `newer` for one of a newer program. @throws the engine's error, with its `code`
 */
export function probeJournal(path: string, write: boolean): 'newer' | 'usable' {
  const db = new Sqlite(path, { fileMustExist: true, timeout: 2_000 });
  try {
    const version = db.pragma('user_version', { simple: true }) as number;
    if (version > migrations.length) return 'newer';
    if (write) db.pragma(`user_version = ${version}`);
    return 'usable';
  } finally {
    db.close();
  }
}
