/** Whether a kept answer may still be shown to its caller: the same access a new call would need. */
import { Refusal } from '../../contract/errors.ts';
import { boardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { type MemberRow, memberById } from '../members/members.store.ts';
import { messageById } from '../messages/messages.store.ts';
import type { Caller, Shown } from '../operation/caller.ts';
import { boardArchived, requireAdmin } from '../operation/terms.ts';
import { timestampOrNull } from '../text/time.ts';
import { type Place, reachById, requirePlace, seeBoardById } from './board-access.ts';
import { mayDescribe, takenBySomebody } from './collision.ts';
import { mayRead, messageNotFound } from './message.ts';

/** @throws Refusal what a new call would get now. */
export async function recheckShown(tx: WriteTx, caller: Caller, shown: Shown): Promise<void> {
  if (shown.need === 'admin') requireAdmin(caller.person, { may: 'do this' });
  for (const board of shown.boards ?? []) await seeBoardById(tx, caller, board);
  if (shown.holder !== undefined) await recheckHolder(tx, caller, shown.holder);
  if (shown.board === undefined) return;
  const found = await (shown.hidden ? reachById : seeBoardById)(tx, caller, shown.board);
  const place = shown.member ? requirePlace(found) : null;
  if (place && shown.message !== undefined) await recheckMessage(tx, place, shown.message);
  if (shown.seat === undefined) return;
  // No answer brings a token of a seat on an archived board, also one that was given before.
  if (found.board.lifecycle !== 'active') throw boardArchived(found.board);
  await recheckSeat(tx, caller, shown);
}

async function recheckHolder(tx: WriteTx, caller: Caller, id: string): Promise<void> {
  const holder = await boardById(tx, id);
  if (!holder || !(await mayDescribe(tx, caller, holder))) throw takenBySomebody();
}

/** An answer that shows a message needs it to be readable still. */
async function recheckMessage(tx: WriteTx, { reader }: Place, id: string): Promise<void> {
  const message = await messageById(tx, id);
  if (!message || !(await mayRead(tx, reader, message))) throw messageNotFound();
}

/** A kept answer that holds a seat's token is shown only while that token is the seat's, under the key it was made with. */
async function recheckSeat(tx: WriteTx, { key }: Pick<Caller, 'key'>, shown: Shown): Promise<void> {
  const seat = await memberById(tx, shown.seat ?? '');
  if (seat?.status !== 'active') throw seatRemoved(seat);
  if (seat.token_digest?.toString('hex') !== shown.token_digest || seat.key_id !== key.key_id) {
    throw new Refusal('seat_token_replaced', "The agent's token was replaced since.", {
      hint: 'Join again from the session that holds the agent.',
    });
  }
}

/** What becomes of somebody who wants the token of a seat that has ended. The board is not named. */
export function seatRemoved(seat: MemberRow | undefined): Refusal {
  return new Refusal('agent_removed', 'This agent is no longer on the board.', {
    hint: 'Its person adds a new one: service agent create NAME --board BOARD; a session then takes it: service resume NAME.',
    details: {
      agent: seat?.name ?? null,
      removed_at: timestampOrNull(seat?.removed_at ?? null),
      removed_by: seat?.removed_by ?? null,
    },
  });
}
