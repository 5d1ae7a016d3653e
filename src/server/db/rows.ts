/** What the rows of most tables need, made from the name of a table. Reading statements are built once. */
import type { Knex } from 'knex';
import { listStatement, type Params, type Value } from './statement.ts';
import type { ReadTx, WriteTx } from './tx.ts';

/** Inserts rows of a table. */
export const insertInto =
  <Row extends object>(table: string) =>
  (tx: WriteTx, row: Row | Row[]): Promise<number> =>
    tx.change((db) => db(table).insert(row));

/** SQLite takes no more rows in one statement, as each is a `select` of its own there. */
const MOST_ROWS = 500;

/** Inserts any number of rows by statements that hold a part of them each; answers how many were added. */
export async function inParts<Row>(rows: readonly Row[], insert: (part: Row[]) => Promise<number>): Promise<number> {
  let added = 0;
  for (let from = 0; from < rows.length; from += MOST_ROWS) added += await insert(rows.slice(from, from + MOST_ROWS));
  return added;
}

/** Inserts a row, or writes it over the one with the same key. */
export const writeInto =
  <Row extends object>(table: string, key: (keyof Row & string)[]) =>
  (tx: WriteTx, row: Row): Promise<number> =>
    tx.change((db) => db(table).insert(row).onConflict(key).merge());

/** Changes columns of the row with an id. */
export const updateIn =
  <Row extends { id: string }>(table: string) =>
  (tx: WriteTx, id: string, columns: Partial<Row>): Promise<number> =>
    tx.change((db) => db(table).where('id', id).update(columns));

/** The row with this value in a column that is unique. */
export function rowBy<Row>(table: string, column: keyof Row & string) {
  const read = listStatement<Params, Row>((db, _p, values) =>
    db(table)
      .whereIn(column, values as string[])
      .select('*'),
  );
  return (tx: ReadTx, value: Value): Promise<Row | undefined> => tx.one(read, column, value);
}

/** The rows with one of these values in a column. */
export const rowsBy = <Row>(table: string, column: keyof Row & string) =>
  rowsOver<Row>((db, values) => db(table).whereIn(column, values).select('*'));

/** The rows that a query over a list of values has; none for an empty list. */
export function rowsOver<Row, Item extends Value = string>(build: (db: Knex, values: Item[]) => Knex.QueryBuilder) {
  const read = listStatement<Params, Row>((db, _p, values) => build(db, values as Item[]));
  return async (tx: ReadTx, values: readonly Item[]): Promise<Row[]> =>
    values.length === 0 ? [] : tx.all(...read.over({}, values));
}
