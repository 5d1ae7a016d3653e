/** Keeps the write-ahead log small: in a quiet moment the database takes all of it over and its file is emptied. */
import type Sqlite from 'better-sqlite3';
import type { Clock } from './clock.ts';

/** A moment is quiet when nothing was written for this long. */
export const QUIET_MS = 2_000;

export class QuietCheckpoint {
  readonly #db: Sqlite.Database;
  readonly #clock: Clock;
  readonly #busy: () => boolean;
  #cancel: (() => void) | null = null;
  #written = false;

  /** @param db the writer. @param busy whether anybody waits for the database. */
  constructor(db: Sqlite.Database, clock: Clock, busy: () => boolean) {
    this.#db = db;
    this.#clock = clock;
    this.#busy = busy;
  }

  /** Something was written. While the timer runs this only sets a flag. */
  noticed(): void {
    this.#written = true;
    if (!this.#cancel) this.#wait();
  }

  stop(): void {
    this.#cancel?.();
  }

  #wait(): void {
    this.#written = false;
    this.#cancel = this.#clock.after(QUIET_MS, () => {
      this.#cancel = null;
      if (this.#written || this.#busy() || !this.#empty()) this.#wait();
    });
  }

  /** False: somebody reads what the database does not have yet, or the disk is full. It waits for nobody. */
  #empty(): boolean {
    const patience = this.#db.pragma('busy_timeout', { simple: true });
    this.#db.pragma('busy_timeout = 0');
    try {
      return this.#db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
    } catch {
      // Nothing is lost, and the next commit reports the error to its caller.
      return false;
    } finally {
      this.#db.pragma(`busy_timeout = ${patience}`);
    }
  }
}
