/** Answers kept for the repeat of a keyed request. */
import { hash } from 'node:crypto';
import { statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

/** How long an answer is kept, in milliseconds. */
export const KEPT_MS = 86_400_000;

export type KeptRow = {
  /** Stands for scope and key in the unique index. */
  slot: Buffer;
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

const SLOT_BYTES = 16;

/**
 * Keys come in no order, so every write of a row changes another page of the index: with 16 bytes of a hash instead of
 * scope and key it has a third of the pages and splits them a third as often.
 */
function slotOf(scope: Buffer, key: string): Buffer {
  if (last.scope === scope && last.key === key) return last.slot;
  const digest = hash('sha256', Buffer.concat([scope, Buffer.from(key, 'latin1')]), 'buffer');
  last = { scope, key, slot: digest.subarray(0, SLOT_BYTES) };
  return last.slot;
}

/** A row is looked for and then written; the scope is the same object both times. */
let last: Pick<KeptRow, 'scope' | 'key' | 'slot'> = { scope: Buffer.alloc(0), key: '', slot: Buffer.alloc(0) };

const findStatement = statement<{ slot: Buffer }, KeptRow>((db, p) =>
  db('idempotency').where('slot', p.slot).select('*'),
);
const insertStatement = statement<KeptRow>((db, p) =>
  db('idempotency').insert({
    slot: p.slot,
    scope: p.scope,
    key: p.key,
    request_hash: p.request_hash,
    operation: p.operation,
    class: p.class,
    status: p.status,
    body: p.body,
    recheck: p.recheck,
    expires_at: p.expires_at,
  }),
);
const deleteStatement = statement<{ slot: Buffer }>((db, p) => db('idempotency').where('slot', p.slot).delete());

/** The row of a key, expired or not. */
export const findKept = (tx: ReadTx, scope: Buffer, key: string): Promise<KeptRow | undefined> =>
  tx.first(findStatement, { slot: slotOf(scope, key) });

export const insertKept = (tx: WriteTx, row: Omit<KeptRow, 'slot'>): Promise<number> =>
  tx.run(insertStatement, { ...row, slot: slotOf(row.scope, row.key) });

export const deleteKept = (tx: WriteTx, scope: Buffer, key: string): Promise<number> =>
  tx.run(deleteStatement, { slot: slotOf(scope, key) });

/** Removes up to `limit` rows past their end; answers how many. Logical removal, not erasure. */
export const purgeKept = (tx: WriteTx, limit: number): Promise<number> =>
  tx.change((db) =>
    db('idempotency')
      .whereIn('id', db('idempotency').orderBy('id').limit(limit).select('id'))
      .where('expires_at', '<=', tx.now)
      .delete(),
  );
