/** Adding a person to a board; adding oneself to an open one is joining it. */
import { Refusal } from '../../contract/errors.ts';
import { eventActor } from '../access/acting.ts';
import { lockVisible, type Place, requirePlace, type VisibleBoard } from '../access/board-access.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { personNotFound } from '../people/people.rules.ts';
import { type PersonRow, shareLockPersonByHandle } from '../people/people.store.ts';
import { boardPersonView } from '../views/person.ts';
import { agentMayAdd, alreadyOnBoard, memberUnlessAddable } from './adding.steps.ts';
import { addMembership } from './membership.steps.ts';
import { activeHuman } from './memberships.store.ts';

export const addBoardPerson: WriteCase<'addBoardPerson'> = {
  async run(tx, caller, { params, body: { handle } }) {
    // Locked before the board, as in every write that needs both; what it says decides nothing yet.
    const person = await shareLockPersonByHandle(tx, handle);
    const needsMember = (found: VisibleBoard): boolean => !addsThemselves(found, caller, handle);
    const found = await lockVisible(tx, caller, params.board, needsMember);
    const place = needsMember(found) ? requirePlace(found) : null;
    if (place && caller.kind === 'AG') await requireAgentMayAdd(tx, place, handle);
    const added = await requireAddable(tx, caller, found, person);
    const member = await addMembership(tx, found.board, {
      person: added,
      ...(place ? { actor: eventActor(place.member, caller.person.handle) } : {}),
      ...(caller.kind === 'AG' ? { by_owner: caller.person.person_id } : {}),
    });
    // The kept answer is shown again only while the caller is on the board.
    caller.shown.member = true;
    const { display_name, server_role } = added;
    return { answer: boardPersonView({ ...member, handle, display_name, server_role }, found.board.name) };
  },
};

/** A caller who is off an open board may add nobody else; that is decided before the handle is looked up. */
const addsThemselves = ({ member }: VisibleBoard, caller: Caller, handle: string): boolean =>
  member === null && handle === caller.person.handle;

/** The seat's session, then the three gates: server, board and role. */
async function requireAgentMayAdd(tx: WriteTx, place: Place, handle: string): Promise<void> {
  const { board, member } = place;
  const command = `service board add ${handle} --board ${board.name}`;
  const forPerson = { hint: `Ask your person to run: ${command}`, details: { command } };
  if (member.session_digest === null) {
    const message = 'Only an agent that joined from a recorded session may add people.';
    throw new Refusal('agent_session_required', message, forPerson);
  }
  if (await agentMayAdd(tx, board, member)) return;
  throw new Refusal('add_people_not_allowed', 'Agents of this role may not add people to this board now.', forPerson);
}

/** @throws Refusal `person_not_found`, `already_on_board`, `person_is_guest`. */
async function requireAddable(tx: WriteTx, caller: Caller, { board }: VisibleBoard, person: PersonRow | undefined) {
  if (!person) throw personNotFound();
  // An agent learns nothing of guests who are elsewhere.
  if (caller.kind === 'AG' && person.server_role === 'guest' && !(await activeHuman(tx, board.id, person.id))) {
    throw personNotFound();
  }
  const member = await memberUnlessAddable(tx, board, person);
  if (member) throw alreadyOnBoard(board, person.handle, member);
  return person;
}
