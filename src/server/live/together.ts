/**
 * The reads of waits that were woken together, a few at a time in one snapshot, so that what they have in common is read
 * once. Between two lots the event loop goes on: what was written to sockets only leaves when a turn ends.
 */
import { Refusal } from '../../contract/errors.ts';
import { RememberingTx } from '../db/remembering.ts';
import type { Database, ReadTx } from '../db/tx.ts';

/** Most reads in one snapshot. */
const LOT = 25;
/** Snapshots at once where each has a connection of its own to a server. */
const AT_ONCE = 4;

interface Job {
  read(tx: ReadTx): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class Together {
  readonly #db: Database;
  #queue: Job[] = [];
  #running = 0;
  #planned = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Runs `read` on a snapshot that is taken after this call. It may await nothing but calls on its `tx`. */
  read<T>(read: (tx: ReadTx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ read, resolve: resolve as (value: unknown) => void, reject });
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    // After all that were woken in this turn have asked.
    process.nextTick(() => this.#next());
  }

  #next(): void {
    this.#planned = false;
    if (this.#queue.length === 0 || this.#running >= (this.#db.dialect.shared ? AT_ONCE : 1)) return;
    this.#running++;
    void this.#lot(this.#queue.splice(0, LOT)).finally(() => {
      this.#running--;
      setImmediate(() => this.#next());
    });
    if (this.#queue.length > 0 && this.#db.dialect.shared) this.#plan();
  }

  async #lot(jobs: Job[]): Promise<void> {
    let at = 0;
    try {
      await this.#db.read(async (tx) => {
        const shared = new RememberingTx(tx);
        for (; at < jobs.length; at++) {
          const { read, resolve, reject } = jobs[at] as Job;
          try {
            resolve(await read(shared));
          } catch (error) {
            reject(error);
            // What the engine refused may have spoilt the transaction: the others read in another one.
            if (!(error instanceof Refusal)) break;
          }
        }
      });
      this.#queue.unshift(...jobs.slice(at + 1));
    } catch (error) {
      for (const job of jobs.slice(at)) job.reject(error);
    }
  }
}
