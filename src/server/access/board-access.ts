/**
 * A board as its caller may use it. Boards are found through the caller, so that a forgotten check finds nothing:
 * a hidden or deleted board is the same as a missing one.
 */
import { Refusal } from '../../contract/errors.ts';
import { idPattern, patterns } from '../../contract/ids.ts';
import type { StoredPolicy } from '../../contract/policy.ts';
import {
  type BoardRow,
  boardById,
  boardByName,
  boardsWithIds,
  listBoardRows,
  lockBoardById,
  lockBoardByName,
  parsePolicy,
} from '../boards/boards.store.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import { activeHuman, ownMemberships } from '../members/memberships.store.ts';
import { boardNotFound, type Caller, isAdmin, type SeatCaller } from '../operation/caller.ts';
import { requireTerms } from '../operation/terms.ts';
import { idsIn, indexBy } from '../text/rows.ts';

/** A board somebody sees, with the member they are on it. */
export interface VisibleBoard {
  board: BoardRow;
  policy: StoredPolicy;
  /** Null: a person who sees an open board without being on it. */
  member: MemberRow | null;
}

/** A board somebody is on. */
export interface Place extends VisibleBoard {
  member: MemberRow;
  reader: Reader;
}

/** As whom the content of a board is read. */
export interface Reader {
  memberId: string;
  personId: string;
  kind: 'human' | 'agent';
  role: string | null;
  access: MemberRow['access'];
  /** Whether every message is readable: people always, agents under the policy `open`. */
  readsAll: boolean;
  /** Whether other members' harness is shown. */
  showsHarness: boolean;
}

const brdId = idPattern('brd');

/** Finds a board by name or id; names hold no underscore, so that no name is an id. @throws Refusal `board_not_found`. */
export async function seeBoard(tx: ReadTx, caller: Caller, board: string): Promise<VisibleBoard> {
  if (brdId.test(board)) return seeBoardById(tx, caller, board);
  if (!patterns.boardName.test(board)) throw boardNotFound();
  return visible(tx, caller, await boardByName(tx, board));
}

/** The same by id, for what names a board by something on it. @throws Refusal `board_not_found`. */
export async function seeBoardById(tx: ReadTx, caller: Caller, id: string): Promise<VisibleBoard> {
  return visible(tx, caller, await boardById(tx, id));
}

/** A board the caller is on. @throws Refusal `board_not_found`, `not_on_board`, and what the operation's row refuses. */
export async function onBoard(tx: ReadTx, caller: Caller, board: string): Promise<Place> {
  return asMember(caller, await seeBoard(tx, caller, board));
}

/** A board the caller is on, its row held until the commit, so that what is appended gets the next number. */
export async function lockPlace(tx: WriteTx, caller: Caller, board: string): Promise<Place> {
  const place = asMember(caller, await lock(tx, caller, board));
  await tx.turn(place.board.id);
  return place;
}

/** The same by id. */
export async function lockPlaceById(tx: WriteTx, caller: Caller, id: string): Promise<Place> {
  return asMember(caller, await lockVisibleById(tx, caller, id));
}

/** A board by id whose row is held, before anything is asked of it. @throws Refusal `board_not_found`. */
export async function lockVisibleById(tx: WriteTx, caller: Caller, id: string): Promise<VisibleBoard> {
  return visible(tx, caller, await lockBoardById(tx, id));
}

/**
 * A board the caller sees, its row held until the commit. @param needsMember whether the caller has to be on it.
 * @throws Refusal `board_not_found`, `not_on_board`, and what the operation's row refuses.
 */
export async function lockVisible(
  tx: WriteTx,
  caller: Caller,
  board: string,
  needsMember: (found: VisibleBoard) => boolean = () => false,
): Promise<VisibleBoard> {
  const found = await lock(tx, caller, board);
  if (needsMember(found)) return asMember(caller, found);
  requireTerms(caller, found.board);
  return found;
}

async function lock(tx: WriteTx, caller: Caller, board: string): Promise<VisibleBoard> {
  if (brdId.test(board)) return lockVisibleById(tx, caller, board);
  if (!patterns.boardName.test(board)) throw boardNotFound();
  return visible(tx, caller, await lockBoardByName(tx, board));
}

/** A board reached by its id, where a server admin also reaches what they do not see. */
export interface ReachedBoard extends VisibleBoard {
  /** The caller does not see this board: nothing of it but its id may be told. */
  hidden: boolean;
}

/**
 * A board by name or id for what also an outside admin may do, its row held until the commit. By its name a private
 * board is missing to a caller who is not on it. @throws Refusal `board_not_found`, and what the operation's row refuses.
 */
export async function lockReached(tx: WriteTx, caller: Caller, nameOrId: string): Promise<ReachedBoard> {
  if (!brdId.test(nameOrId)) return { ...(await lockVisible(tx, caller, nameOrId)), hidden: false };
  const found = await reached(tx, caller, await lockBoardById(tx, nameOrId));
  requireTerms(caller, found.board);
  return found;
}

/** The same without holding it, to show again what was told of it. @throws Refusal `board_not_found`. */
export async function reachById(tx: ReadTx, caller: Caller, id: string): Promise<ReachedBoard> {
  return reached(tx, caller, await boardById(tx, id));
}

async function reached(tx: ReadTx, caller: Caller, board: BoardRow | undefined): Promise<ReachedBoard> {
  const outside = isAdmin(caller) && board?.visibility === 'private';
  if (!outside || board.lifecycle === 'deleted' || (await membership(tx, caller, board)) !== null) {
    return { ...(await visible(tx, caller, board)), hidden: false };
  }
  caller.shown.board = board.id;
  caller.shown.hidden = true;
  return { board, policy: parsePolicy(board), member: null, hidden: true };
}

/** The boards a person is on, as they may use them. */
export async function placesOf(tx: ReadTx, { person }: Pick<Caller, 'person'>, lifecycle: 'active' | 'all' = 'active') {
  const boards = await listBoardRows(tx, { personId: person.person_id, open: false, lifecycle, limit: 100_000 });
  const ids = idsIn(boards);
  const members = indexBy(await ownMemberships(tx, person.person_id, ids), 'board_id');
  return boards.flatMap((board) => {
    const member = members.get(board.id);
    const policy = parsePolicy(board);
    return member ? [{ board, member, policy, reader: readerOf(member, policy) }] : [];
  });
}

/** The board of an agent's own seat. */
export async function ownPlace(tx: ReadTx, caller: SeatCaller): Promise<Place> {
  return asMember(caller, await seeBoardById(tx, caller, caller.seat.board_id));
}

/** The board asked for, or an agent's own; null: all boards of a person. */
export async function onePlace(tx: ReadTx, caller: Caller, board: string | undefined): Promise<Place | null> {
  if (board !== undefined) return onBoard(tx, caller, board);
  return caller.seat === null ? null : ownPlace(tx, caller as SeatCaller);
}

/** The same as `ownPlace` for several agents at once, in their order. They were authenticated in this snapshot, so each has its board. */
export async function ownPlaces(tx: ReadTx, callers: readonly SeatCaller[]): Promise<Place[]> {
  const boardIds = new Set(callers.map(({ seat }) => seat.board_id));
  const boards = indexBy(await boardsWithIds(tx, [...boardIds]), 'id');
  return callers.map((caller) => {
    const board = boards.get(caller.seat.board_id);
    if (!board) throw boardNotFound();
    caller.shown.board = board.id;
    return asMember(caller, { board, policy: parsePolicy(board), member: caller.seat });
  });
}

/** The board as somebody on it has it. @throws Refusal `not_on_board`, and what the operation's row refuses. */
export function asMember(caller: Caller, found: VisibleBoard): Place {
  caller.shown.member = true;
  const place = requirePlace(found);
  requireTerms(caller, place.board);
  return place;
}

/** @throws Refusal `not_on_board`. */
export function requirePlace(found: VisibleBoard): Place {
  const { board, member, policy } = found;
  if (!member) {
    throw new Refusal('not_on_board', `You are not on the board ${board.name}.`, {
      hint: `It is open: service board add me --board ${board.name} puts you on it.`,
    });
  }
  return { board, member, policy, reader: readerOf(member, policy) };
}

/** What a wait remembers of a board it has looked at. */
export const headOf = ({ board }: Place): { id: string; head: number } => ({ id: board.id, head: board.head_seq });

export function readerOf(
  member: Pick<MemberRow, 'id' | 'kind' | 'person_id' | 'role' | 'access'>,
  policy: StoredPolicy,
): Reader {
  const person = member.kind === 'human';
  return {
    memberId: member.id,
    personId: member.person_id,
    kind: member.kind,
    role: member.role,
    access: member.access,
    readsAll: person || policy.visibility === 'open',
    showsHarness: person || policy.show_harness,
  };
}

async function visible(tx: ReadTx, caller: Caller, board: BoardRow | undefined): Promise<VisibleBoard> {
  if (!board || board.lifecycle === 'deleted') throw boardNotFound();
  const member = await membership(tx, caller, board);
  if (!member && !(caller.seat === null && board.visibility === 'open' && caller.person.server_role !== 'guest')) {
    throw boardNotFound();
  }
  caller.shown.board = board.id;
  return { board, policy: parsePolicy(board), member };
}

async function membership(tx: ReadTx, caller: Caller, board: BoardRow): Promise<MemberRow | null> {
  if (caller.seat === null) {
    const { person_id: person } = caller.person;
    return (await tx.once(`human:${board.id}:${person}`, () => activeHuman(tx, board.id, person))) ?? null;
  }
  if (caller.seat.board_id !== board.id) throw boardNotFound();
  const { seat } = caller;
  return tx.once(`member:${seat.id}`, async () => seat);
}
