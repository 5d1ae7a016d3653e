/** Who may be added to a board, and whether an agent may add people by itself. */
import { Refusal } from '../../contract/errors.ts';
import { type BoardRow, parseRoles } from '../boards/boards.store.ts';
import { mayDo } from '../boards/policy.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import type { PersonRow } from '../people/people.store.ts';
import { readSettings } from '../settings/settings.store.ts';
import type { MemberRow } from './members.store.ts';
import { activeHuman } from './memberships.store.ts';

/** A seat with a recorded session, by server, board and role. */
export async function agentMayAdd(tx: ReadTx, board: BoardRow, seat: MemberRow): Promise<boolean> {
  if (seat.board_id !== board.id || seat.session_digest === null || board.agents_add_people !== 1) return false;
  if (!mayDo(parseRoles(board)[seat.role ?? ''], 'add_people')) return false;
  return (await readSettings(tx)).agents_add_people;
}

/**
 * The membership of somebody who is on the board already; undefined: they can be added.
 * @throws Refusal `person_is_guest`.
 */
export async function memberUnlessAddable(
  tx: ReadTx,
  board: BoardRow,
  { id, handle, server_role }: Pick<PersonRow, 'id' | 'handle' | 'server_role'>,
): Promise<MemberRow | undefined> {
  const member = await activeHuman(tx, board.id, id);
  if (member || server_role !== 'guest') return member;
  throw new Refusal('person_is_guest', `${handle} is a guest of this server.`, {
    hint: `Guests come with a code: service code guest ${handle} --board ${board.name}`,
  });
}

export const alreadyOnBoard = ({ name }: BoardRow, handle: string, { id }: MemberRow): Refusal =>
  new Refusal('already_on_board', `${handle} is on ${name} already.`, {
    hint: `service board people --board ${name} shows who is on it.`,
    details: { member_id: id },
  });
