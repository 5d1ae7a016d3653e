/** Answers kept for the repeat of a keyed request. */
import { statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

/** How long an answer is kept, in milliseconds. */
export const KEPT_MS = 86_400_000;

export type KeptRow = {
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

const findStatement = statement<{ scope: Buffer; key: string }, KeptRow>((db, p) =>
  db('idempotency').where({ scope: p.scope, key: p.key }).select('*'),
);
const insertStatement = statement<KeptRow>((db, p) =>
  db('idempotency').insert({
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
const deleteStatement = statement<{ scope: Buffer; key: string }>((db, p) =>
  db('idempotency').where({ scope: p.scope, key: p.key }).delete(),
);

/** The row of a key, expired or not. */
export const findKept = (tx: ReadTx, scope: Buffer, key: string): Promise<KeptRow | undefined> =>
  tx.first(findStatement, { scope, key });

export const insertKept = (tx: WriteTx, row: KeptRow): Promise<number> => tx.run(insertStatement, row);

export const deleteKept = (tx: WriteTx, scope: Buffer, key: string): Promise<number> =>
  tx.run(deleteStatement, { scope, key });

/** Removes up to `limit` rows past their end; answers how many. Logical removal, not erasure. */
export const purgeKept = (tx: WriteTx, limit: number): Promise<number> =>
  tx.change((db) =>
    db('idempotency')
      .whereIn('id', db('idempotency').orderBy('id').limit(limit).select('id'))
      .where('expires_at', '<=', tx.now)
      .delete(),
  );
