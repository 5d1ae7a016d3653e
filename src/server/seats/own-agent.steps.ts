/** Finds an active agent that is a person's own, for what only its person decides. */
import { Refusal } from '../../contract/errors.ts';
import type { Params } from '../../contract/types.ts';
import { asMember, seeBoard, type VisibleBoard } from '../access/board-access.ts';
import type { WriteTx } from '../db/tx.ts';
import { findMember, type MemberRow, memberById } from '../members/members.store.ts';
import { activeHuman } from '../members/memberships.store.ts';
import { type Caller, isAdmin } from '../operation/caller.ts';
import { lockMode, type SeatMode } from './agents.store.ts';

interface OwnAgent {
  place: VisibleBoard;
  found: MemberRow;
  /** Of its row, which is locked. */
  agent: SeatMode;
}

/** @throws Refusal `agent_not_found`, `agent_owner_required`, and what finding the board refuses. */
export async function lockOwnAgent(tx: WriteTx, caller: Caller, params: Params<'getMember'>): Promise<OwnAgent> {
  const seen = await seeBoard(tx, caller, params.board);
  // An admin, who may remove its agents without being on it, is told whose they are.
  const place = seen.member === null && isAdmin(caller) ? seen : asMember(caller, seen);
  const found = await findMember(tx, place.board.id, params.member);
  if (found?.kind !== 'agent' || found.status !== 'active') throw agentNotFound(place);
  if (found.person_id !== caller.person.person_id) {
    throw new Refusal('agent_owner_required', `${found.name} is not an agent of yours.`, {
      hint: "Only an agent's own person says how messages reach it.",
    });
  }
  // Held and read again: a seat that ended meanwhile stays as it ended.
  const agent = await lockMode(tx, found.id);
  if (agent?.status !== 'active') throw agentNotFound(place);
  return { place, found, agent };
}

/** Whether a person has this active agent on this board, and is on it themselves. */
export async function isOwnSeat(tx: WriteTx, seatId: string, personId: string, boardId: string | undefined) {
  const seat = await memberById(tx, seatId);
  if (seat?.kind !== 'agent' || seat.status !== 'active' || seat.person_id !== personId) return false;
  return seat.board_id === boardId && (await activeHuman(tx, seat.board_id, personId)) !== undefined;
}

/** Checks that the seat is an active agent of the person, on that board if one is given. @throws Refusal `pairing_not_found`. */
export async function requireOwnSeat(tx: WriteTx, seatId: string, personId: string, boardId: string | undefined) {
  if (await isOwnSeat(tx, seatId, personId, boardId)) return;
  throw new Refusal('pairing_not_found', 'You have no such active agent on this board.', {
    hint: 'service agents shows your agents and their boards.',
  });
}

const agentNotFound = ({ board }: VisibleBoard): Refusal =>
  new Refusal('agent_not_found', `There is no such agent on ${board.name}.`, {
    hint: `service board members --board ${board.name} shows who is on it.`,
  });
