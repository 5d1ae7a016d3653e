/**
 * What the row of an operation asks of a board, beside the caller's right to see it: that the board is active, and that the
 * caller is no guest. `run-write.ts` and its neighbours put the terms on the caller before the use case runs; whatever finds a
 * board for the use case (`access/board-access.ts`) checks them, so that no use case has to remember them.
 */
import { Refusal } from '../../contract/errors.ts';
import type { Route } from '../../contract/operation.ts';
import type { ServerRole } from '../../contract/types.ts';

export interface BoardTerms {
  /** An archived board refuses the operation. */
  active: boolean;
  guests?: Route['guests'];
}

interface Board {
  name: string;
  lifecycle: 'active' | 'archived' | 'deleted';
}

/** The subject of the terms: a caller, or a request without one, which is not a guest's. */
interface Bound {
  terms?: BoardTerms;
  person?: { server_role: ServerRole };
}

/** @param worksArchived tells of a row that is refused in part whether this request works on an archived board. */
export function termsOf(row: Route | Pick<Route, 'archived'>, worksArchived = false): BoardTerms {
  const { archived, guests }: Partial<Route> = row;
  return { active: archived === 'refused' || (archived === 'partly' && !worksArchived), guests };
}

/** @throws Refusal `guest_not_allowed`, then `board_archived`. */
export function requireTerms(bound: Bound, board: Board): void {
  const { terms, person } = bound;
  if (terms?.guests && person?.server_role === 'guest') {
    const { cannot, hint = 'Ask a member of the board.' } = terms.guests;
    throw new Refusal('guest_not_allowed', `Guests and their agents cannot ${cannot}.`, { hint });
  }
  requireActive(bound, board);
}

/** @param refusal what an archived board is refused with. @throws Refusal `board_archived`. */
export function requireActive(
  { terms }: Bound,
  board: Board,
  refusal: (board: Board) => Refusal = boardArchived,
): void {
  if (terms?.active && board.lifecycle !== 'active') throw refusal(board);
}

/** The refusal of an archived board; its hint names only those who can restore it. */
export const boardArchived = ({ name }: Pick<Board, 'name'>): Refusal =>
  new Refusal('board_archived', `The board ${name} is archived.`, {
    hint: "The board's creator, while still on it, or a server admin can restore it.",
  });
