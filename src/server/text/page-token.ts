/** The opaque position in a list that is ordered by time of creation, then id. It stays valid while rows come and go. */
import type { Knex } from 'knex';
import { decodeParts, encodeParts, foreignPosition } from './bound-token.ts';
import { cut } from './cut.ts';

export interface Position {
  created_at: number;
  id: string;
}

/** @throws Refusal `invalid_request` for what no page gave. */
export function readPageToken(after: string | undefined): Position | null {
  if (after === undefined) return null;
  const parts = decodeParts(after, ['number', 'string']);
  if (parts === null) throw foreignPosition();
  const [created_at, id] = parts;
  return { created_at, id };
}

/**
 * Orders a query and starts it after a position. Asks for one row more than the page holds, which tells whether there is another page.
 * @param table the name or alias whose `created_at` and `id` order the list.
 */
export function pageFrom(
  query: Knex.QueryBuilder,
  table: string,
  after: Position | null,
  limit: number,
  direction: 'asc' | 'desc' = 'asc',
): Knex.QueryBuilder {
  const [at, id] = [`${table}.created_at`, `${table}.id`];
  query
    .orderBy(at, direction)
    .orderBy(id, direction)
    .limit(limit + 1);
  if (after === null) return query;
  const beyond = direction === 'asc' ? '>' : '<';
  return query.whereRaw(`(??, ??) ${beyond} (?, ?)`, [at, id, after.created_at, after.id]);
}

/** Cuts the row too many off, and says where the next page begins. */
export const cutPage = <Row extends Position>(rows: readonly Row[], limit: number) =>
  cut(rows, limit, ({ created_at, id }) => encodeParts([created_at, id]));
