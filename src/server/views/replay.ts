/** Whether a kept answer may still be shown to its caller: the same access a new call would need. */
import { Refusal } from '../../contract/errors.ts';
import type { WriteTx } from '../db/tx.ts';
import { boardNotFound, type Caller, type Shown } from '../operation/caller.ts';
import { memberById } from '../seats/members.store.ts';
import { seeBoardById } from './place.ts';

/** @throws Refusal what a new call would get now. */
export async function recheckShown(tx: WriteTx, caller: Caller, shown: Shown): Promise<void> {
  if (shown.board === undefined) return;
  const { board, member } = await seeBoardById(tx, caller, shown.board);
  if (shown.message !== undefined && !member) throw boardNotFound();
  if (shown.seat === undefined) return;
  if (!member) throw boardNotFound();
  if (board.lifecycle !== 'active') throw new Refusal('board_archived', `The board ${board.name} is archived.`);
  await recheckSeat(tx, shown);
}

/** A kept answer that holds a seat's token is shown only while that token is the seat's. */
async function recheckSeat(tx: WriteTx, shown: Shown): Promise<void> {
  const seat = await memberById(tx, shown.seat ?? '');
  if (seat?.status !== 'active') throw new Refusal('agent_removed', 'This agent is no longer on the board.');
  if (seat.token_digest?.toString('hex') !== shown.token_digest) {
    throw new Refusal('seat_token_replaced', "The agent's token was replaced since.", {
      hint: 'Join again from the session that holds the agent.',
    });
  }
}
