/** Everything that a database holds, for tests that say that something wrote nothing. */
import type { Database } from '../../src/server/db/tx.ts';

/** Counts of requests, the uses of keys, and what the search index catches up on in the background. */
const BESIDES = /^(rate_counts|search_\w+|sqlite_\w+)$/;

/** The rows of each table as text, without when a key was last used. */
export function databaseText(db: Database): Promise<Record<string, string>> {
  return db.read(async (tx) => {
    const tables = await tx.query<{ name: string }>((knex) =>
      tx.dialect.name === 'sqlite'
        ? knex('sqlite_master').where({ type: 'table' }).select('name')
        : knex('pg_tables').whereRaw('schemaname = current_schema()').select({ name: 'tablename' }),
    );
    const texts: Record<string, string> = {};
    for (const { name } of tables.filter((table) => !BESIDES.test(table.name))) {
      const rows = await tx.query<Record<string, unknown>>((knex) => knex(name).select('*'));
      texts[name] = rows
        .map(({ last_used_at: _, ...row }) => JSON.stringify(row))
        .sort()
        .join('\n');
    }
    return texts;
  });
}
