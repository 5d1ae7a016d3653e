/** A seat that has ended. */
import type { AgentSeat } from '../../contract/types.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { MemberRow } from '../members/members.store.ts';
import { timestamp } from '../text/time.ts';

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
