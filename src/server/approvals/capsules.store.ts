/** Capsules: the sealed secret of an allowed invite, and what became of it. A cleared row stays as the receipt. */
import type { Knex } from 'knex';
import { heldRow } from '../db/query.ts';
import { insertInto, rowsBy } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { CapsuleState } from './capsule-states.rules.ts';

export type CapsuleRow = {
  approval_id: string;
  invite_id: string;
  version: number;
  nonce: Buffer | null;
  ciphertext: Buffer | null;
  tag: Buffer | null;
  expires_at: number;
  consumed_at: number | null;
  until: number | null;
  winning_key_hash: Buffer | null;
  cleared_at: number | null;
  clear_reason: string | null;
};

/** What it is now, whether or not anything has written it down yet. */
export function capsuleState(row: CapsuleRow, now: number): CapsuleState {
  if (row.ciphertext === null || row.expires_at <= now) return 'cleared';
  if (row.consumed_at === null) return 'held';
  return row.until !== null && row.until > now ? 'collected' : 'cleared';
}

/** What is left out is null. */
export const insertCapsule = insertInto<Partial<CapsuleRow>>('approval_outcomes');

const rowsOf = rowsBy<CapsuleRow>('approval_outcomes', 'approval_id');

/** In a write its row is locked until the commit. */
export const capsuleOf = (tx: ReadTx, approvalId: string): Promise<CapsuleRow | undefined> =>
  heldRow(tx, (db) => db('approval_outcomes').where('approval_id', approvalId).select('*'));

/** Without the secrets' bytes being looked at: for lists. */
export const capsulesOf = async (tx: ReadTx, approvalIds: string[]): Promise<Map<string, CapsuleRow>> =>
  new Map((await rowsOf(tx, approvalIds)).map((row) => [row.approval_id, row]));

/** Takes a capsule that nobody took; 0 when somebody did. */
export const consume = (tx: WriteTx, approvalId: string, change: Pick<CapsuleRow, 'until' | 'winning_key_hash'>) =>
  tx.change((db) =>
    db('approval_outcomes')
      .where('approval_id', approvalId)
      .whereNull('consumed_at')
      .whereNotNull('ciphertext')
      .update({ consumed_at: tx.now, ...change }),
  );

/** Ends capsules for good: their secret is gone from here. */
export const clearCapsules = (
  tx: WriteTx,
  narrow: (query: Knex.QueryBuilder, db: Knex) => Knex.QueryBuilder,
  reason: string,
): Promise<number> =>
  tx.change((db) =>
    narrow(db('approval_outcomes').whereNotNull('ciphertext'), db).update({
      nonce: null,
      ciphertext: null,
      tag: null,
      winning_key_hash: null,
      cleared_at: tx.now,
      clear_reason: reason,
    }),
  );

/** What the redemption or revocation of invites ends. */
export const clearForInvites = (tx: WriteTx, inviteIds: string[], reason: string): Promise<number> =>
  inviteIds.length === 0
    ? Promise.resolve(0)
    : clearCapsules(tx, (query) => query.whereIn('invite_id', inviteIds), reason);

/** Clears capsules that have expired. */
export function clearPassed(tx: WriteTx): Promise<number> {
  const over = (query: Knex.QueryBuilder) => query.where('expires_at', '<=', tx.now).orWhere('until', '<=', tx.now);
  return clearCapsules(tx, (query) => query.where(over), 'expired');
}
