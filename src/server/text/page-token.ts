/** The opaque position in a list that is ordered by time of creation, then id. It stays valid while rows come and go. */
import type { Knex } from 'knex';
import { Refusal } from '../../contract/errors.ts';

export interface Position {
  created_at: number;
  id: string;
}

/** base64url of JSON `[created_at, id]`. */
export const pageToken = ({ created_at, id }: Position): string =>
  Buffer.from(JSON.stringify([created_at, id])).toString('base64url');

/** @throws Refusal `invalid_request` for what no page gave. */
export function readPageToken(after: string | undefined): Position | null {
  if (after === undefined) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(after, 'base64url').toString('utf8'));
    if (Array.isArray(value) && value.length === 2 && Number.isSafeInteger(value[0]) && typeof value[1] === 'string') {
      return { created_at: value[0] as number, id: value[1] };
    }
  } catch {
    // Refused below.
  }
  throw new Refusal('invalid_request', 'after: was not given by a page of this list.', {
    hint: 'Start again without it, then hand back next_after as it comes.',
    details: { field: 'after', problem: 'was not given by a page of this list' },
  });
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
    .orderBy([
      { column: at, order: direction },
      { column: id, order: direction },
    ])
    .limit(limit + 1);
  if (after === null) return query;
  const beyond = direction === 'asc' ? '>' : '<';
  return query.where((either) =>
    either
      .where(at, beyond, after.created_at)
      .orWhere((same) => same.where(at, after.created_at).where(id, beyond, after.id)),
  );
}

/** Cuts the row too many off, and says where the next page begins. */
export function cutPage<Row extends Position>(rows: Row[], limit: number): { page: Row[]; next_after: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, next_after: rows.length > limit && last ? pageToken(last) : null };
}
