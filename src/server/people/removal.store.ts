/** Ending all that a person can act with. */
import type { WriteTx } from '../db/tx.ts';

/** A person's working keys, held for this transaction alone; answers their ids. */
export const holdKeysOf = async (tx: WriteTx, personId: string): Promise<string[]> => {
  const rows = await tx.query<{ id: string }>((db) =>
    db('access_keys')
      .where('person_id', personId)
      .whereNull('revoked_at')
      .where((open) => open.whereNull('expires_at').orWhere('expires_at', '>', tx.now))
      .orderBy('id')
      .forUpdate()
      .select('id'),
  );
  return rows.map((row) => row.id);
};

export const revokeKeys = (tx: WriteTx, ids: string[]): Promise<number> =>
  tx.change((db) => db('access_keys').whereIn('id', ids).update({ revoked_at: tx.now }));

/** Revokes the invites of a person and of their agents that can still be used. */
export const revokeInvitesBy = (tx: WriteTx, personId: string): Promise<number> =>
  tx.change((db) =>
    db('server_invites')
      .where('created_by', personId)
      .whereNull('revoked_at')
      .whereNull('used_at')
      .where('expires_at', '>', tx.now)
      .update({ revoked_at: tx.now }),
  );
