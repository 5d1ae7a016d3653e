/** Ending memberships and seats: people leave, agents leave, owners remove people and agents. */
import { Refusal } from '../../contract/errors.ts';
import type { BoardPerson } from '../../contract/types.ts';
import { actorOn, eventActor } from '../access/acting.ts';
import { requireAnotherOwner, requireOwner, requirePersonOn } from '../access/authority.ts';
import {
  lockPlace,
  lockPlaceById,
  lockReached,
  type Place,
  type ReachedBoard,
  requirePlace,
} from '../access/board-access.ts';
import type { WriteTx } from '../db/tx.ts';
import { type Caller, isAdmin, type SeatCaller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { boardPersonView } from '../views/person.ts';
import { seatView } from '../views/seat.ts';
import { endMembership, endSeat, type SeatEnding } from './end-members.steps.ts';
import { lockSeats } from './end-members.store.ts';
import { findMember, type MemberWithPerson } from './members.store.ts';

export const leaveBoard: WriteCase<'leaveBoard'> = {
  async run(tx, caller, { params: { board } }) {
    await lockSeats(tx, { board, of: { person: caller.person.person_id } });
    const place = await lockPlace(tx, caller, board);
    return { answer: await leave(tx, caller, place) };
  },
};

export const removeBoardPerson: WriteCase<'removeBoardPerson'> = {
  async run(tx, caller, { params: { board, handle } }) {
    await lockSeats(tx, { board, of: { handle } });
    const place = await lockPlace(tx, caller, board);
    if (handle === caller.person.handle) return { answer: await leave(tx, caller, place) };
    await requireOwner(tx, place);
    return { answer: await takeOff(tx, caller, place, await requirePersonOn(tx, place, handle)) };
  },
};

export const removeMember: WriteCase<'removeMember'> = {
  async run(tx, caller, { params: { board, member: wanted } }) {
    await lockSeats(tx, { board, of: { member: wanted } });
    const reached = await lockReached(tx, caller, board);
    if (reached.member) caller.shown.member = true;
    else if (!isAdmin(caller)) requirePlace(reached);
    const target = await findTarget(tx, reached, wanted);
    if (target.kind === 'agent') return { answer: await endAgent(tx, caller, reached, target) };
    const place = requirePlace(reached);
    if (target.person_id === caller.person.person_id) return { answer: await leave(tx, caller, place) };
    await requireOwner(tx, place);
    return { answer: await takeOff(tx, caller, place, target) };
  },
};

async function leave(tx: WriteTx, caller: Caller, place: Place): Promise<BoardPerson> {
  if (place.member.access === 'admin') await requireAnotherOwner(tx, place);
  const { handle, display_name, server_role } = caller.person;
  const actor = eventActor(place.member, handle);
  await endMembership({ tx, board: place.board, actor }, place.member, 'left');
  // The kept answer may be shown again to a person who still sees the board.
  delete caller.shown.member;
  return boardPersonView({ ...place.member, handle, display_name, server_role }, place.board.name);
}

/** Another owner may be removed too: the caller is an owner who stays. */
async function takeOff(tx: WriteTx, caller: Caller, place: Place, person: MemberWithPerson): Promise<BoardPerson> {
  const actor = eventActor(place.member, caller.person.handle);
  await endMembership({ tx, board: place.board, actor }, person, 'removed');
  return boardPersonView(person, place.board.name);
}

/** A member who is on the board now. Callers off the board find agents only, and on a hidden board by id only. */
async function findTarget(tx: WriteTx, reached: ReachedBoard, wanted: string): Promise<MemberWithPerson> {
  const found = await findMember(tx, reached.board.id, wanted);
  const there = found?.status === 'active' && (found.kind === 'agent' || reached.member !== null);
  if (found && there && (!reached.hidden || found.id === wanted)) return found;
  throw new Refusal('agent_not_found', 'There is no such agent on this board now.', {
    hint: reached.hidden
      ? 'On a private board you are not on, name the agent by its id.'
      : `service board members --board ${reached.board.name} shows who is on it.`,
  });
}

async function endAgent(tx: WriteTx, caller: Caller, reached: ReachedBoard, { handle, ...seat }: MemberWithPerson) {
  const by = await capacity(tx, caller, reached, seat.person_id);
  const ended = await endSeat(tx, reached.board, seat, { actor: actorOn(reached.member, caller), by, owner: handle });
  return seatView(ended, handle, reached);
}

/** In what capacity the caller ends an agent of this person. @throws Refusal `owner_required`. */
async function capacity(
  tx: WriteTx,
  caller: Caller,
  reached: ReachedBoard,
  personId: string,
): Promise<SeatEnding['by']> {
  if (personId === caller.person.person_id) return 'person';
  if (reached.member?.access === 'admin') return 'board_owner';
  if (!isAdmin(caller)) await requireOwner(tx, requirePlace(reached));
  return 'admin';
}

export const leaveSeat: WriteCase<'leaveSeat'> = {
  endsCaller: true,
  async run(tx, caller) {
    const { seat, person } = caller as SeatCaller;
    const { board, member } = await lockPlaceById(tx, caller, seat.board_id);
    const actor = eventActor(member, person.handle);
    const left = await endSeat(tx, board, member, { actor, by: 'self', owner: person.handle });
    return { answer: seatView(left, person.handle, { board }) };
  },
};
