/** Join codes. Only a keyed digest of a code is kept. */
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type JoinCodeRow = {
  id: string;
  board_id: string;
  digest: Buffer;
  kind: 'pairing' | 'guest';
  role: string;
  guest_handle: string | null;
  /** Bound when the code was made for a guest who was on the server already. */
  guest_person_id: string | null;
  maker_member_id: string;
  maker_person_id: string;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
  used_at: number | null;
  used_key_id: string | null;
  uses: number;
  last_used_at: number | null;
};

/** Whose codes: those these members made, those for a role, or all of the board. */
export type CodeScope = { makers: string[] } | { roles: string[] } | 'all';

/** A board's working codes within a scope, oldest first. */
export const workingCodes = (tx: ReadTx, boardId: string, scope: CodeScope): Promise<JoinCodeRow[]> =>
  tx.query<JoinCodeRow>((db) => {
    const query = db('join_codes')
      .where('board_id', boardId)
      .whereNull('revoked_at')
      .whereNull('used_at')
      .where('expires_at', '>', tx.now)
      .orderBy(['created_at', 'id'])
      .select('*');
    if (scope === 'all') return query;
    return 'makers' in scope ? query.whereIn('maker_member_id', scope.makers) : query.whereIn('role', scope.roles);
  });

export const setCodesRevoked = (tx: WriteTx, ids: string[]): Promise<number> =>
  tx.change((db) => db('join_codes').whereIn('id', ids).update({ revoked_at: tx.now }));
