/** Counting attempts in the database, where several processes count together: more processes mean no more guesses. */
import { MINUTE } from '../../contract/durations.ts';
import type { Database, WriteTx } from '../db/tx.ts';
import type { Share, Taken, Tally } from './attempts.ts';
import { change, forgetOld, lockCount } from './rates.store.ts';
import { MOST_SUBJECTS } from './window.ts';

/** After so many attempts of a bucket what is no longer needed of it is removed. */
const TIDY_EVERY = 1_000;

export class SharedTally implements Tally {
  readonly #db: Database;
  /** Attempts since a bucket was last tidied. */
  readonly #taken = new Map<string, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  async take(bucket: string, shares: Share[], held: boolean): Promise<Taken> {
    await this.#tidy(bucket);
    return this.#db.write(async (tx) => {
      const rows = [];
      for (const { subject, limit } of shares) {
        const row = await lockCount(tx, bucket, subject, windowOf(tx));
        if (row.counted + row.held >= limit) {
          const taken = row.counted >= limit ? 'over' : 'busy';
          // What came before it stays counted, unless it is to be given back.
          if (held) for (const before of rows) await change(tx, before, { held: before.held - 1 });
          return taken;
        }
        const next = held ? { held: row.held + 1 } : { counted: row.counted + 1 };
        await change(tx, row, next);
        rows.push({ ...row, ...next });
      }
      return 'taken';
    });
  }

  async giveBack(bucket: string, shares: Share[], failed: boolean): Promise<void> {
    await this.#db.write(async (tx) => {
      for (const { subject } of shares) {
        const row = await lockCount(tx, bucket, subject, windowOf(tx));
        await change(tx, row, { held: Math.max(0, row.held - 1), counted: row.counted + (failed ? 1 : 0) });
      }
    });
  }

  async #tidy(bucket: string): Promise<void> {
    const taken = (this.#taken.get(bucket) ?? 0) + 1;
    this.#taken.set(bucket, taken % TIDY_EVERY);
    if (taken === TIDY_EVERY) await this.#db.write((tx) => forgetOld(tx, bucket, windowOf(tx), MOST_SUBJECTS));
  }
}

const windowOf = (tx: WriteTx): { start: number; ms: number } => ({
  start: Math.floor(tx.now / MINUTE) * MINUTE,
  ms: MINUTE,
});
