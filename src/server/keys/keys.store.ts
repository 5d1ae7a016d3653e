/** Access keys as records: names, origins, and what depends on them. */

import type { Knex } from 'knex';
import { firstRow, idsOf } from '../db/query.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type AccessKeyRow = {
  id: string;
  person_id: string;
  name: string;
  created_at: number;
  expires_at: number | null;
  idle_seconds: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  origin: 'local' | 'first_admin' | 'invite' | 'guest_code' | 'created' | 'machine' | 'recovery';
  parent_key_id: string | null;
};

/** All but the digest, which leaves the database only to be compared. */
const keyFields = [
  'id',
  'person_id',
  'name',
  'created_at',
  'expires_at',
  'idle_seconds',
  'revoked_at',
  'last_used_at',
  'origin',
  'parent_key_id',
].map((name) => `access_keys.${name}`);

/** Narrows a query of keys to those that have not ended. */
const working = (query: Knex.QueryBuilder, now: number): Knex.QueryBuilder =>
  query.whereNull('revoked_at').where((open) => open.whereNull('expires_at').orWhere('expires_at', '>', now));

/** Names of a person's working keys. */
export const workingKeyNames = async (tx: ReadTx, personId: string): Promise<Set<string>> => {
  const keys = await listKeyRows(tx, { personId, working: true }, (query) => query);
  return new Set(keys.map((key) => key.name));
};

type KeyCounts = { sessions: number; seats: number; delegations: number; invites: number };

/** What works because of each of these keys now, in four statements however many keys there are. */
export async function countOfKeys(tx: ReadTx, ids: string[]): Promise<Map<string, KeyCounts>> {
  const counts = new Map(ids.map((id) => [id, { sessions: 0, seats: 0, delegations: 0, invites: 0 }]));
  if (ids.length === 0) return counts;
  const count = async (field: keyof KeyCounts, key: string, build: (db: Knex) => Knex.QueryBuilder) => {
    const rows = await tx.query<{ id: string; count: number }>((db) =>
      build(db).whereIn(key, ids).groupBy(key).select({ id: key }).count({ count: '*' }),
    );
    for (const { id, count: n } of rows) counts.get(id)![field] = Number(n);
  };
  await count('sessions', 'key_id', (db) =>
    db('browser_sessions').whereNull('ended_at').where('expires_at', '>', tx.now),
  );
  await count('seats', 'key_id', (db) =>
    db('members')
      .where({ kind: 'agent', status: 'active' })
      .whereNotIn('board_id', db('boards').where('lifecycle', 'deleted').select('id')),
  );
  await count('delegations', 'key_id', (db) => db('delegations').whereNull('ended_at'));
  await count('invites', 'parent_key_id', (db) =>
    db('server_invites').whereNull('revoked_at').whereNull('used_at').where('expires_at', '>', tx.now),
  );
  return counts;
}

/** Marks keys as revoked; answers how many rows that changed. */
export const setRevoked = (tx: WriteTx, ids: string[]): Promise<number> =>
  tx.change((db) => db('access_keys').whereIn('id', ids).whereNull('revoked_at').update({ revoked_at: tx.now }));

/**
 * Ids of a person's working keys, whose rows are locked until the commit. Requests that came with the person's credentials end
 * first, so it is asked for before anything that these hold. The people are locked.
 */
export async function lockWorkingKeys(tx: WriteTx, personId: string): Promise<string[]> {
  await tx.serialise(personId);
  return idsOf(tx, (db) =>
    working(db('access_keys').where('person_id', personId), tx.now).orderBy('id').forUpdate().select('id'),
  );
}

/** One of a person's own keys, ended or not. */
export const keyOf = (tx: ReadTx, personId: string, id: string): Promise<AccessKeyRow | undefined> =>
  firstRow(tx, (db) => db('access_keys').where({ person_id: personId, id }).select(keyFields));

/** A person's keys, oldest first. @param page orders and cuts them. */
export const listKeyRows = (
  tx: ReadTx,
  filter: { personId: string; working: boolean },
  page: (query: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<AccessKeyRow[]> =>
  tx.query<AccessKeyRow>((db) => {
    const all = db('access_keys').where('person_id', filter.personId).select(keyFields);
    return page(filter.working ? working(all, tx.now) : all);
  });

/** The working keys that lie, or lay, in the data folder of a local server, of whichever person, their rows locked. */
export const lockLocalKeys = (tx: WriteTx): Promise<AccessKeyRow[]> =>
  tx.query((db) =>
    working(db('access_keys').where('origin', 'local'), tx.now).orderBy('id').forUpdate().select(keyFields),
  );

/** A key, its row locked until the commit: requests that came with its person's credentials end first. The people are locked. */
export async function lockKey(tx: WriteTx, id: string): Promise<AccessKeyRow | undefined> {
  const [key] = await keysWithIds(tx, [id]);
  if (!key) return undefined;
  await tx.serialise(key.person_id);
  return firstRow(tx, (db) => db('access_keys').where('id', id).forUpdate().select(keyFields));
}

/** Keys by their ids, ended or not. */
export const keysWithIds = async (tx: ReadTx, ids: string[]): Promise<AccessKeyRow[]> =>
  ids.length === 0 ? [] : tx.query<AccessKeyRow>((db) => db('access_keys').whereIn('id', ids).select(keyFields));
