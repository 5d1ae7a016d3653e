/** Counts the rows that Postgres reads for a piece of work: what a bad plan makes large. */
import type { WriteTx } from '../../src/server/db/tx.ts';

/** What the work answers, and the rows that Postgres read for it; on SQLite 0. */
export async function readFor<T>(tx: WriteTx, work: () => Promise<T>): Promise<{ value: T; read: number }> {
  if (tx.dialect.name === 'sqlite') return { value: await work(), read: 0 };
  await tx.query((db) => db.raw('SET LOCAL track_counts = on'));
  const before = await rowsRead(tx);
  const value = await work();
  return { value, read: (await rowsRead(tx)) - before };
}

/** Rows read in this transaction so far. */
async function rowsRead(tx: WriteTx): Promise<number> {
  const read = 'SUM(COALESCE(idx_tup_fetch, 0) + seq_tup_read)::int AS read';
  const rows = await tx.query<{ read: number }>((db) => db('pg_stat_xact_user_tables').select(db.raw(read)));
  return rows[0]!.read;
}
