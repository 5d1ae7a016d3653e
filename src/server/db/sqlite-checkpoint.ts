/** Keeps the write-ahead log small: in a quiet moment the database takes all of it over and its file is emptied. */
import type Sqlite from 'better-sqlite3';
import type { Clock } from './clock.ts';

/** A moment is quiet when nothing was written for this long. */
export const QUIET_MS = 2_000;

/** @param db the writer, which waits for no lock. @param busy whether anybody waits for the database. */
export function quietCheckpoint(db: Sqlite.Database, clock: Clock, busy: () => boolean) {
  let cancel: (() => void) | null = null;
  let written = false;
  const wait = (): void => {
    written = false;
    cancel = clock.after(QUIET_MS, () => {
      cancel = null;
      if (written || busy() || !emptyLog(db)) wait();
    });
  };
  return {
    /** Something was written. While the timer runs this only sets a flag. */
    noticed(): void {
      written = true;
      if (!cancel) wait();
    },
    stop: (): void => cancel?.(),
  };
}

/** False: somebody reads what the database does not have yet, or the disk is full. */
function emptyLog(db: Sqlite.Database): boolean {
  try {
    return db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
  } catch {
    // Nothing is lost, and the next commit reports the error to its caller.
    return false;
  }
}
