/** Queries for one row, one column or one number, built for each call. */
import type { Knex } from 'knex';
import type { ReadTx, WriteTx } from './tx.ts';

/** The first row of a query; undefined if it has none. */
export async function firstRow<R>(tx: ReadTx, build: (db: Knex) => Knex.QueryBuilder): Promise<R | undefined> {
  const [row] = await tx.query<R>(build);
  return row;
}

/** The first row of a query, its row locked until the commit where this is a write, or where `hold` says so. */
export const heldRow = <R>(
  tx: ReadTx,
  build: (db: Knex) => Knex.QueryBuilder,
  hold: boolean = tx.writable,
): Promise<R | undefined> => firstRow<R>(tx, (db) => (hold ? build(db).forUpdate() : build(db)));

/** Whether a query has a row. */
export const anyRow = async (tx: ReadTx, build: (db: Knex) => Knex.QueryBuilder): Promise<boolean> =>
  (await firstRow(tx, build)) !== undefined;

/** The ids that a query selects. */
export async function idsOf(tx: ReadTx, build: (db: Knex) => Knex.QueryBuilder): Promise<string[]> {
  return (await tx.query<{ id: string }>(build)).map(({ id }) => id);
}

/** How many rows a query without `select` has. */
export async function countRows(tx: ReadTx, build: (db: Knex) => Knex.QueryBuilder): Promise<number> {
  const row = await firstRow<{ count: number }>(tx, (db) => build(db).count({ count: '*' }));
  return Number(row?.count ?? 0);
}

/** Removes up to `limit` rows of a table that `old` narrows it to, by their `key`; answers how many. */
export const purgeRows = (
  tx: WriteTx,
  { table, key, limit }: { table: string; key: string; limit: number },
  old: (rows: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<number> =>
  tx.change((db) =>
    db(table)
      .whereIn(key, old(db(table)).limit(limit).select(key))
      .delete(),
  );
