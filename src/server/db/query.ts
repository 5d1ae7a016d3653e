/** Queries for one row or one number, built for each call. */
import type { Knex } from 'knex';
import type { ReadTx } from './tx.ts';

/** The first row of a query; undefined if it has none. */
export async function firstRow<R>(tx: ReadTx, build: (db: Knex) => Knex.QueryBuilder): Promise<R | undefined> {
  const [row] = await tx.query<R>(build);
  return row;
}

/** How many rows a query without `select` has. */
export async function countRows(tx: ReadTx, build: (db: Knex) => Knex.QueryBuilder): Promise<number> {
  const row = await firstRow<{ count: number }>(tx, (db) => build(db).count({ count: '*' }));
  return Number(row?.count ?? 0);
}
