/** Whether an agent may add people by itself. */
import { type BoardRow, parseRoles } from '../boards/boards.store.ts';
import { mayDo } from '../boards/policy.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import { readSettings } from '../settings/settings.store.ts';
import type { MemberRow } from './members.store.ts';

/** A seat with a recorded session, by server, board and role. */
export async function agentMayAdd(tx: ReadTx, board: BoardRow, seat: MemberRow): Promise<boolean> {
  if (seat.board_id !== board.id || seat.session_digest === null || board.agents_add_people !== 1) return false;
  if (!mayDo(parseRoles(board)[seat.role ?? ''], 'add_people')) return false;
  return (await readSettings(tx)).agents_add_people;
}
