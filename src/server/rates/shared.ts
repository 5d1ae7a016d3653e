/** Counting attempts in the database, where several processes count together: more processes mean no more guesses. */
import { MINUTE } from '../../contract/durations.ts';
import { Unreachable } from '../db/dialect.ts';
import type { Database, WriteTx } from '../db/tx.ts';
import type { Tally } from './attempts.ts';
import { change, forgetOld, lockCount } from './rates.store.ts';
import { MOST_SUBJECTS, msLeft } from './window.ts';

/** After so many attempts of a bucket what is no longer needed of it is removed. */
const TIDY_EVERY = 1_000;

export function sharedTally(db: Database): Tally {
  /** Attempts since a bucket was last tidied. */
  const attempts = new Map<string, number>();
  // Whether it was counted does not matter: of what is asked for nothing was done.
  const count = <T>(fn: (tx: WriteTx) => Promise<T>): Promise<T> =>
    db.write(fn).catch((error: unknown) => {
      throw error instanceof Unreachable ? new Unreachable(error.cause) : error;
    });
  const tidy = async (bucket: string): Promise<void> => {
    const taken = (attempts.get(bucket) ?? 0) + 1;
    attempts.set(bucket, taken % TIDY_EVERY);
    if (taken === TIDY_EVERY) await count((tx) => forgetOld(tx, bucket, windowOf(tx), MOST_SUBJECTS));
  };
  return {
    async take(bucket, shares, held) {
      await tidy(bucket);
      return count(async (tx) => {
        const rows = [];
        for (const { subject, limit } of shares) {
          const row = await lockCount(tx, bucket, subject, windowOf(tx));
          if (row.counted + row.held >= limit) {
            // What came before it stays counted, unless it is to be given back.
            if (held) for (const before of rows) await change(tx, before, { held: before.held - 1 });
            return { refused: row.counted >= limit ? 'over' : 'busy', ms: msLeft(tx.now, MINUTE) };
          }
          const next = held ? { held: row.held + 1 } : { counted: row.counted + 1 };
          await change(tx, row, next);
          rows.push({ ...row, ...next });
        }
        return null;
      });
    },
    giveBack: (bucket, shares, failed) =>
      db.write(async (tx) => {
        for (const { subject } of shares) {
          const row = await lockCount(tx, bucket, subject, windowOf(tx));
          await change(tx, row, { held: Math.max(0, row.held - 1), counted: row.counted + (failed ? 1 : 0) });
        }
      }),
  };
}

const windowOf = (tx: WriteTx): { start: number; ms: number } => ({
  start: Math.floor(tx.now / MINUTE) * MINUTE,
  ms: MINUTE,
});
