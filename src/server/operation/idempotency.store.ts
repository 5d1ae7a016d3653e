/** Answers kept for the repeat of a keyed request. */
import { hash } from 'node:crypto';
import { rowBy } from '../db/rows.ts';
import { insertion, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

/** How long an answer is kept, in milliseconds. */
export const KEPT_MS = 86_400_000;

export type KeptRow = {
  /** Stands for scope and key in the unique index. */
  slot: string;
  /** The digest of the credential. */
  scope: Buffer;
  key: string;
  request_hash: Buffer;
  operation: string;
  class: string;
  status: number;
  body: Buffer;
  /** JSON of the permanent ids the answer shows. */
  recheck: string;
  expires_at: number;
};

/** Characters of a hash in the slot, each of six bits. */
const HASH = 16;
/** Characters of a key that hold its time in milliseconds, in a ULID behind `cli_` as in a UUID of version 7. */
const TIME = 14;

/**
 * The beginning of the key puts rows of clients whose keys grow with time side by side in the index, so that the writes of
 * one transaction change one of its pages; keys in no order change one each. 96 bits of a hash of scope and key instead of
 * both keep the index small: two of one credential are never the same by chance, and nobody knows the digest of theirs to
 * look for some.
 */
const slotOf = (scope: Buffer, key: string): string =>
  key.slice(0, TIME) + hash('sha256', scope.toString('latin1') + key, 'base64').slice(0, HASH);

const bySlot = rowBy<KeptRow>('idempotency', 'slot');
const inserting = insertion<KeptRow>('idempotency');
const deleteStatement = statement<{ slot: string }>((db, p) => db('idempotency').where('slot', p.slot).delete());

/** The row of a key, expired or not. */
export const findKept = (tx: ReadTx, scope: Buffer, key: string): Promise<KeptRow | undefined> =>
  bySlot(tx, slotOf(scope, key));

export function insertKept(tx: WriteTx, row: Omit<KeptRow, 'slot'>): Promise<void> {
  const kept = { slot: slotOf(row.scope, row.key), ...row };
  return tx.send(inserting(kept), kept);
}

export const deleteKept = (tx: WriteTx, scope: Buffer, key: string): Promise<number> =>
  tx.run(deleteStatement, { slot: slotOf(scope, key) });

/**
 * Removes up to `limit` rows past their end, which are the oldest; answers how many. Those that were kept while the clock was
 * far ahead stand before others that end sooner. Logical removal, not erasure.
 */
export const purgeKept = (tx: WriteTx, limit: number): Promise<number> =>
  tx.change((db) => {
    const oldest = db('idempotency')
      .where('expires_at', '<', tx.now + 2 * KEPT_MS)
      .orderBy('id')
      .limit(limit);
    return db('idempotency').whereIn('id', oldest.select('id')).where('expires_at', '<=', tx.now).delete();
  });
