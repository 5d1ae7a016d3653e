/** Server invites and what redeeming them left. Only a keyed digest of an invite's secret is kept. */
import type { Knex } from 'knex';
import { countRows, heldRow, idsOf } from '../db/query.ts';
import { insertInto, rowBy, updateIn } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { InviteState } from './invite-states.rules.ts';

export type InviteRow = {
  id: string;
  digest: Buffer;
  created_by: string;
  /** The agent that asked for it. */
  issuing_agent_id: string | null;
  parent_key_id: string;
  created_at: number;
  expires_at: number;
  /** JSON of board ids. */
  boards: string;
  /** JSON of `Pairing`. */
  pairing: string | null;
  suggested_handle: string | null;
  revoked_at: number | null;
  used_at: number | null;
  used_by: string | null;
  /** JSON of `Authorization`: by what an agent's invite was issued. */
  authorization: string | null;
};

export interface Pairing {
  initiating_agent_id: string;
  work: string;
}

export const boardsOf = (row: { boards: string }): string[] => JSON.parse(row.boards) as string[];
export const pairingOf = (row: InviteRow): Pairing | null =>
  row.pairing === null ? null : (JSON.parse(row.pairing) as Pairing);

/** Redeemed, revoked, expired, active: the first that is true. */
export function stateOf(row: InviteRow, now: number): InviteState {
  if (row.used_at !== null) return 'redeemed';
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at <= now ? 'expired' : 'active';
}

function inState(query: Knex.QueryBuilder, state: InviteState, now: number): Knex.QueryBuilder {
  if (state === 'redeemed') return query.whereNotNull('used_at');
  query.whereNull('used_at');
  if (state === 'revoked') return query.whereNotNull('revoked_at');
  query.whereNull('revoked_at');
  return state === 'expired' ? query.where('expires_at', '<=', now) : query.where('expires_at', '>', now);
}

/** Invites that somebody came by. */
export const invitesUsedBy = (tx: ReadTx, personId: string): Promise<InviteRow[]> =>
  tx.query<InviteRow>((db) => db('server_invites').where('used_by', personId).select('*'));

export const insertInvite = insertInto<InviteRow>('server_invites');
export const saveInvite = updateIn<InviteRow>('server_invites');

export const countActive = (tx: ReadTx, personId: string): Promise<number> =>
  countRows(tx, (db) => inState(db('server_invites').where('created_by', personId), 'active', tx.now));

/** A person's invites and their agents'. @param page orders and cuts them. */
export const listInviteRows = (
  tx: ReadTx,
  personId: string,
  state: InviteState | 'all',
  page: (query: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<InviteRow[]> =>
  tx.query<InviteRow>((db) => {
    const all = db('server_invites').where('created_by', personId).select('*');
    return page(state === 'all' ? all : inState(all, state, tx.now));
  });

/** An invite; in a write its row is locked until the commit. */
export const inviteById = (tx: ReadTx, id: string): Promise<InviteRow | undefined> =>
  heldRow(tx, (db) => db('server_invites').where('id', id).select('*'));

/** @param hold keeps its row until the commit. */
export const inviteByDigest = (tx: ReadTx, digest: Buffer, hold: boolean): Promise<InviteRow | undefined> =>
  heldRow(tx, (db) => db('server_invites').where('digest', digest).select('*'), hold);

/** Uses up an invite that was neither used nor revoked; its row is held. */
export const setUsed = (tx: WriteTx, id: string, personId: string): Promise<number> =>
  tx.change((db) => db('server_invites').where('id', id).update({ used_at: tx.now, used_by: personId }));

/** Revokes invites that were neither used nor revoked; their rows are held. */
export const setRevoked = (tx: WriteTx, ids: string[]): Promise<number> =>
  tx.change((db) => db('server_invites').whereIn('id', ids).update({ revoked_at: tx.now }));

/** Ends the invites that were made with a key, or by a person and their agents, and can still be used; answers their ids. */
export const revokeInvitesOf = async (
  tx: WriteTx,
  of: { parent_key_id: string } | { created_by: string },
): Promise<string[]> => {
  const ids = await idsOf(tx, (db) =>
    inState(db('server_invites').where(of), 'active', tx.now).orderBy('id').forUpdate().select('id'),
  );
  await setRevoked(tx, ids);
  return ids;
};

export type ReceiptRow = {
  key_id: string;
  person_id: string;
  invite_id: string;
  handle: string;
  /** JSON of board ids. */
  boards: string;
  pairing_request_id: string | null;
};

export const insertReceipt = insertInto<ReceiptRow>('onboarding_receipts');
export const receiptOfKey = rowBy<ReceiptRow>('onboarding_receipts', 'key_id');
