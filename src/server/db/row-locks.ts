/** Row locks of two strengths in one query, for which Knex has no words: it keeps one locking clause only. */
import type { Knex } from 'knex';

/**
 * Holds the rows of `written` for this transaction alone to write, and those of `shared` against writers. Two shared locks on a row that
 * both transactions then write would wait for each other.
 */
export function hold(db: Knex, query: Knex.QueryBuilder, written: string, ...shared: string[]) {
  const { sql, bindings } = query.forShare(...shared).toSQL();
  // SQLite has no row locks; there is one writer.
  if (!/ for share of /.test(sql)) return query;
  return db.raw(`${sql} for no key update of "${written}"`, bindings);
}
