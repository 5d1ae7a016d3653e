/** An agent's seat, as the answer to bringing the agent onto a board and to ending it. */
import type { AgentSeat, JoinResult } from '../../contract/types.ts';
import type { Place } from '../access/board-access.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import { timestamp } from '../text/time.ts';
import { boardView } from './board.ts';
import { memberView } from './member.ts';

/** @param hidden the reader does not see the board: nothing of it is named. */
export function seatView(
  seat: MemberRow,
  owner: string,
  { board, hidden = false }: { board: BoardRow; hidden?: boolean },
): AgentSeat {
  if (seat.status === 'active' || seat.removed_at === null || seat.removed_by === null) {
    throw new Error(`seat ${seat.id} has not ended`);
  }
  return {
    id: seat.id,
    board: hidden ? null : board.name,
    board_id: board.id,
    name: hidden ? null : seat.name,
    owner,
    owner_id: seat.person_id,
    status: seat.status,
    removed_at: timestamp(seat.removed_at),
    removed_by: seat.removed_by,
  };
}

/** The answer to joining. Its ids and token are checked again before a kept answer is shown. */
export async function joinedView(
  tx: ReadTx,
  caller: Caller,
  { place, seat, reused }: { place: Place; seat: { row: MemberRow; token: string }; reused?: true },
): Promise<JoinResult> {
  const { handle, display_name, server_role } = caller.person;
  Object.assign(caller.shown, {
    board: place.board.id,
    member: true,
    seat: seat.row.id,
    token_digest: seat.row.token_digest?.toString('hex') ?? '',
  });
  return {
    agent: await memberView(tx, { ...seat.row, handle, display_name, server_role }, place, caller),
    token: seat.token,
    board: await boardView(tx, caller, place),
    ...(reused ? { reused } : {}),
  };
}
