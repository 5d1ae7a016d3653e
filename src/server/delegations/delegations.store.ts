/** Machine delegations. Only a keyed digest of a delegation's token is kept. */
import type { Knex } from 'knex';
import { countRows, firstRow } from '../db/query.ts';
import { insertInto } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { type Position, pageFrom } from '../text/page-token.ts';

export type DelegationRow = {
  id: string;
  key_id: string;
  person_id: string;
  name: string;
  created_at: number;
  ended_at: number | null;
  /** The person's key that ended it, by taking its place or by its id. */
  ended_by: string | null;
  /** When its key stopped working; null: it works. */
  key_ended_at: number | null;
};

/** When a key ended, as far as it has: columns of `access_keys` as `k`. */
const keyEnd = (db: Knex, now: number): Knex.Raw =>
  db.raw('CASE WHEN k.revoked_at IS NOT NULL THEN k.revoked_at WHEN k.expires_at <= ? THEN k.expires_at END', [now]);

const rows = (db: Knex, now: number): Knex.QueryBuilder =>
  db({ d: 'delegations' })
    .join({ k: 'access_keys' }, 'k.id', 'd.key_id')
    .select('d.id', 'd.key_id', 'd.person_id', 'd.name', 'd.created_at', 'd.ended_at', 'd.ended_by')
    .select({ key_ended_at: keyEnd(db, now) });

interface DelegationFilter {
  personId: string;
  keyId?: string;
  /** Also those that have ended. */
  ended: boolean;
  after: Position | null;
  limit: number;
}

/** A person's delegations, oldest first; one more than the page holds. */
export const listDelegationRows = (tx: ReadTx, filter: DelegationFilter): Promise<DelegationRow[]> =>
  tx.query<DelegationRow>((db) => {
    const query = rows(db, tx.now).where('d.person_id', filter.personId);
    if (filter.keyId !== undefined) query.where('d.key_id', filter.keyId);
    if (!filter.ended) query.whereNull('d.ended_at').whereRaw('(?) IS NULL', [keyEnd(db, tx.now)]);
    return pageFrom(query, 'd', filter.after, filter.limit);
  });

/** One of a person's own delegations. */
export const delegationOf = (tx: ReadTx, personId: string, id: string): Promise<DelegationRow | undefined> =>
  firstRow(tx, (db) => rows(db, tx.now).where({ 'd.person_id': personId, 'd.id': id }));

/** How many delegations of a key have not ended. */
export const countOpenDelegations = (tx: ReadTx, keyId: string): Promise<number> =>
  countRows(tx, (db) => db('delegations').where('key_id', keyId).whereNull('ended_at'));

export const insertDelegation = insertInto<Omit<DelegationRow, 'key_ended_at'> & { digest: Buffer }>('delegations');

/** Ends those that have not ended yet, by id, by the name they have under a key, or all of a person. */
export const endDelegations = (
  tx: WriteTx,
  which: { id: string; person_id: string } | { key_id: string; name: string } | { person_id: string },
  by: string,
): Promise<number> =>
  tx.change((db) => db('delegations').where(which).whereNull('ended_at').update({ ended_at: tx.now, ended_by: by }));

const KEPT_MS = 90 * 86_400_000;

/** Removes up to `limit` delegations that ended 90 days ago, by themselves or with their key; answers how many. */
export const purgeDelegations = (tx: WriteTx, limit: number): Promise<number> =>
  tx.change((db) =>
    db('delegations')
      .whereIn(
        'id',
        db({ d: 'delegations' })
          .join({ k: 'access_keys' }, 'k.id', 'd.key_id')
          .where((either) =>
            either
              .where('d.ended_at', '<=', tx.now - KEPT_MS)
              .orWhere('k.revoked_at', '<=', tx.now - KEPT_MS)
              .orWhere('k.expires_at', '<=', tx.now - KEPT_MS),
          )
          .limit(limit)
          .select('d.id'),
      )
      .delete(),
  );
