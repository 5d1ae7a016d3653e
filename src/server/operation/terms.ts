/**
 * What the row of an operation asks of its caller and of the board, beside the caller's right to see it. What runs a use
 * case (`run-write.ts` and its neighbours) puts the terms on the caller first, which refuses those whom the server refuses;
 * whatever finds a board for the use case (`access/board-access.ts`) checks the rest. So no use case has to remember them.
 */
import { Refusal } from '../../contract/errors.ts';
import type { Route } from '../../contract/operation.ts';
import type { ServerRole } from '../../contract/types.ts';

/** What is asked once the board is found. */
export interface BoardTerms {
  /** An archived board refuses the operation. */
  active: boolean;
  guests?: Route['guests'];
}

interface Board {
  name: string;
  lifecycle: 'active' | 'archived' | 'deleted';
}

interface Person {
  server_role: ServerRole;
}

/** The subject of the terms: a caller, or a request without one, which is not a guest's. */
interface Bound {
  terms?: BoardTerms;
  person?: Person;
}

type Guests = NonNullable<Route['guests']>;

/** A board that is hidden from a guest is missing to them, so that guests are refused only once it is found. */
const guestsOnBoard = ({ guests, path }: Route): boolean => guests?.onBoard ?? path.includes('{board}');

/** @param worksArchived tells of a row that is refused in part whether this request works on an archived board. */
export function termsOf(row: Route, worksArchived = false): BoardTerms {
  const { archived, guests } = row;
  const active = archived === 'refused' || (archived === 'partly' && !worksArchived);
  return { active, guests: guestsOnBoard(row) ? guests : undefined };
}

/** Puts the terms of a row on its caller. @throws Refusal `guest_not_allowed`, `server_admin_required`. */
export function setTerms(caller: Bound & { person: Person }, row: Route, worksArchived = false): void {
  requireServerRole(row, caller.person);
  caller.terms = termsOf(row, worksArchived);
}

/** What a row asks of its caller wherever they are. @throws Refusal `guest_not_allowed`, then `server_admin_required`. */
export function requireServerRole(row: Route, person: Person): void {
  if (row.guests && !guestsOnBoard(row)) refuseGuest(person, row.guests);
  if (row.admins) requireAdmin(person, row.admins);
}

/**
 * A use case calls this or `requireAdmin` only where the rule depends on the request, which a row cannot say.
 * @throws Refusal `guest_not_allowed`, also to a guest's agent.
 */
export function refuseGuest(person: Person, { cannot, hint = 'Ask a member of this server.' }: Guests): void {
  if (person.server_role !== 'guest') return;
  throw new Refusal('guest_not_allowed', `Guests and their agents cannot ${cannot}.`, { hint });
}

/** @throws Refusal `server_admin_required`. */
export function requireAdmin(person: Person, only: NonNullable<Route['admins']>): void {
  if (person.server_role !== 'admin') throw adminRequired(only);
}

/** The refusal of a person who is no server admin. */
export const adminRequired = ({ may }: NonNullable<Route['admins']>): Refusal =>
  new Refusal('server_admin_required', `Only a server admin may ${may}.`, {
    hint: 'Ask one of the admins: service people list shows who they are.',
  });

/** @throws Refusal `guest_not_allowed`, then `board_archived`. */
export function requireTerms(bound: Bound, board: Board): void {
  const { terms, person } = bound;
  if (terms?.guests && person) refuseGuest(person, { hint: 'Ask a member of the board.', ...terms.guests });
  requireActive(bound, board);
}

/** @param refusal what an archived board is refused with. @throws Refusal `board_archived`. */
export function requireActive({ terms }: Bound, board: Board, refusal: (board: Board) => Refusal = boardArchived) {
  if (terms?.active && board.lifecycle !== 'active') throw refusal(board);
}

/** The refusal of an archived board; its hint names only those who can restore it. */
export const boardArchived = ({ name }: Pick<Board, 'name'>): Refusal =>
  new Refusal('board_archived', `The board ${name} is archived.`, {
    hint: "The board's creator, while still on it, or a server admin can restore it.",
  });
