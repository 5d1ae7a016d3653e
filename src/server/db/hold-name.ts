/** Serialising what no row lock covers: counts, and rows that are not there yet. */
import type { WriteTx } from './tx.ts';

/**
 * Holds a name until the commit: of the transactions that hold the same name, one runs at a time. Rows read before it
 * may have changed since, so it comes before the reads that decide. On SQLite writes run one after the other anyway.
 */
export async function holdName(tx: WriteTx, name: string): Promise<void> {
  if (!tx.dialect.shared) return;
  await tx.query((db) => db.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [name]));
}
