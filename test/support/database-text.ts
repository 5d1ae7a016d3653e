/** Everything that a database holds, for tests that say that something wrote nothing. */
import type { Database, ReadTx } from '../../src/server/db/tx.ts';

/** Counts of requests, the uses of keys, and what the search index catches up on in the background. */
const BESIDES = /^(rate_counts|search_\w+|sqlite_\w+)$/;

/** A row as text, without when a key was last used. */
interface RowText {
  name: string;
  row: string;
}

/** The rows of each table that has any, as text. */
export async function databaseText(db: Database): Promise<Record<string, string>> {
  const all = await db.read((tx) => (tx.dialect.name === 'sqlite' ? rowsOfSqlite(tx) : rowsOfPostgres(tx)));
  const lists = Object.groupBy(all, ({ name }) => name);
  const textOf = (rows: RowText[] = []): string =>
    rows
      .map(({ row }) => row)
      .sort()
      .join('\n');
  return Object.fromEntries(Object.entries(lists).map(([name, rows]) => [name, textOf(rows)]));
}

async function rowsOfSqlite(tx: ReadTx): Promise<RowText[]> {
  const tables = await tx.query<{ name: string }>((knex) =>
    knex('sqlite_master').where({ type: 'table' }).select('name'),
  );
  const found: RowText[] = [];
  for (const { name } of tables.filter((table) => !BESIDES.test(table.name))) {
    const rows = await tx.query<Record<string, unknown>>((knex) => knex(name).select('*'));
    found.push(...rows.map(({ last_used_at: _, ...row }) => ({ name, row: JSON.stringify(row) })));
  }
  return found;
}

/** In one statement, which costs far less than one for each table. */
async function rowsOfPostgres(tx: ReadTx): Promise<RowText[]> {
  // A table without a page holds no row.
  const tables = await tx.query<{ name: string }>((knex) =>
    knex.raw(
      "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND pg_relation_size(oid) > 0",
    ),
  );
  const selects = tables
    .filter(({ name }) => !BESIDES.test(name))
    .map(({ name }) => `SELECT '${name}' AS name, (to_jsonb(t) - 'last_used_at')::text AS row FROM "${name}" t`);
  return tx.query<RowText>((knex) => knex.raw(selects.join(' UNION ALL ')));
}
