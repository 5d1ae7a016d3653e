/** Joining with a machine's delegation: a session comes onto a board, or gets another token for the seat it has there. */
import { usualRole } from '../../contract/values.ts';
import { lockVisible, type Place, requirePlace, type VisibleBoard } from '../access/board-access.ts';
import { seatRemoved } from '../access/replay.ts';
import type { WriteTx } from '../db/tx.ts';
import { lockSeats } from '../members/end-members.store.ts';
import { seatOfSession } from '../members/members.store.ts';
import { addMembership } from '../members/membership.steps.ts';
import type { DelegateCaller } from '../operation/caller.ts';
import { makeSeat, type NewSeat, requireSeat, rotateToken } from '../seats/seat.steps.ts';
import type { RootKey } from '../text/root-key.ts';
import { type BySession, harnessOf } from './join.rules.ts';

/** An agent that came onto a board, or got another token for its seat there. */
export interface Joined {
  /** The board, as the agent's person is on it. */
  place: Place;
  seat: NewSeat;
  reused?: true;
}

/**
 * In one transaction with the board's row locked, so that of two calls for one session the second finds the first's seat.
 * @throws Refusal `board_not_found`, `guest_not_allowed`, `board_archived`, `agent_removed`, and what making a seat says.
 */
export async function joinByDelegation(
  tx: WriteTx,
  root: RootKey,
  caller: DelegateCaller,
  body: BySession,
): Promise<Joined> {
  // What the session's seat is asked at this moment comes first: its token may be about to change.
  await lockSeats(tx, { board: body.board, of: { person: caller.person.person_id } });
  const found = await lockVisible(tx, caller, body.board);
  const { person_id } = caller.person;
  const session_digest = root.digest(body.session);
  const known = await seatOfSession(tx, { board_id: found.board.id, person_id, session_digest });
  if (!known) return joinAnew(tx, root, caller, found, body);
  // Name, role and harness of the request say nothing about a seat that is there.
  if (known.status !== 'active') throw seatRemoved(known);
  return { place: requirePlace(found), seat: await rotateToken(tx, root, known, caller.key.key_id), reused: true };
}

async function joinAnew(
  tx: WriteTx,
  root: RootKey,
  caller: DelegateCaller,
  { board, policy, member: present }: VisibleBoard,
  body: BySession,
): Promise<Joined> {
  const harness = harnessOf(body);
  const { delegation_id } = caller.delegation;
  const plan = { ...body, role: body.role ?? usualRole, harness, delegationId: delegation_id };
  const person = { ...caller.person, id: caller.person.person_id };
  if (!present) await requireSeat(tx, board, person, plan);
  const member = present ?? (await addMembership(tx, board, { person, via: 'delegation', delegation_id }));
  const place = requirePlace({ board, policy, member });
  return { place, seat: await makeSeat(tx, root, { ...caller, ...place }, plan) };
}
