/** Whether an invite still works: its own state, who issued it, and every board it leads to. */
import { type BoardRow, boardById, lockBoardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { findKeyById } from '../keys/credentials.store.ts';
import { type MemberRow, memberById } from '../members/members.store.ts';
import { activeHuman } from '../members/memberships.store.ts';
import { keyWorks } from '../operation/caller.ts';
import { type PersonRow, personById } from '../people/people.store.ts';
import { isOwnSeat } from '../seats/own-agent.steps.ts';
import { transition } from '../text/state-table.ts';
import { type InviteEffect, inviteTable } from './invite-states.rules.ts';
import { boardsOf, type InviteRow, inviteByDigest, pairingOf, stateOf } from './invites.store.ts';

export interface Redeemable {
  invite: InviteRow;
  issuer: PersonRow;
  /** In the order of their ids, each with the issuer's own membership. */
  boards: { board: BoardRow; issuer: MemberRow }[];
  /** What redeeming it now does beside the account. */
  effect: InviteEffect;
}

type Authority = Pick<Redeemable, 'issuer' | 'boards'>;

/**
 * What an invite's secret stands for, if somebody could redeem it now.
 * @param hold locks invite and boards until the commit; people must be locked (`lockPeople`).
 */
export async function findRedeemable(tx: WriteTx, digest: Buffer, hold: boolean): Promise<Redeemable | null> {
  const invite = await inviteByDigest(tx, digest, hold);
  if (!invite) return null;
  const found: { authority: Authority | null } = { authority: null };
  const { effect } = await transition(inviteTable, stateOf(invite, tx.now), 'redeem', {
    no_authority: async () => {
      found.authority = await authorityOf(tx, invite, hold);
      return found.authority === null;
    },
    archived: () => found.authority?.boards.some(({ board }) => board.lifecycle === 'archived') === true,
  });
  return effect.refused || !found.authority ? null : { invite, ...found.authority, effect };
}

/** Who issued an invite and where it leads, if its person could issue it now. */
async function authorityOf(tx: WriteTx, invite: InviteRow, hold: boolean): Promise<Authority | null> {
  const issuer = await personById(tx, invite.created_by);
  if (!issuer || issuer.removed_at !== null || issuer.server_role !== 'admin') return null;
  if (invite.issuing_agent_id !== null && !(await agentStands(tx, invite, invite.issuing_agent_id))) return null;
  const boards: Authority['boards'] = [];
  for (const id of boardsOf(invite).sort()) {
    const board = hold ? await lockBoardById(tx, id) : await boardById(tx, id);
    const there = board !== undefined && board.lifecycle !== 'deleted';
    const member = there ? await activeHuman(tx, id, issuer.id) : undefined;
    if (!board || !member) return null;
    boards.push({ board, issuer: member });
  }
  const pairing = pairingOf(invite);
  if (pairing && !(await isOwnSeat(tx, pairing.initiating_agent_id, issuer.id, boards[0]?.board.id))) return null;
  return { issuer, boards };
}

/** An agent's invite ends with the seat that asked for it and with the key behind that seat. */
async function agentStands(tx: WriteTx, { created_by, parent_key_id }: InviteRow, seatId: string): Promise<boolean> {
  const seat = await memberById(tx, seatId);
  if (!seat || seat.key_id !== parent_key_id || !(await isOwnSeat(tx, seatId, created_by, seat.board_id))) return false;
  const board = await boardById(tx, seat.board_id);
  const key = await findKeyById(tx, parent_key_id);
  return board !== undefined && board.lifecycle !== 'deleted' && key !== undefined && keyWorks(key, tx.now);
}
