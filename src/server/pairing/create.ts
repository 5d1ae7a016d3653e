/** Proposes work to a person on the server, or to another session of one's own. */
import { Refusal } from '../../contract/errors.ts';
import type { Answer } from '../../contract/types.ts';
import { eventActor } from '../access/acting.ts';
import { asMember, lockPlaceById, type Place, seeBoardById } from '../access/board-access.ts';
import { canonicalAction, refuseSecrets } from '../approvals/actions.rules.ts';
import { allowStep } from '../approvals/next.rules.ts';
import { openRequest } from '../approvals/open-request.steps.ts';
import { requesterOf } from '../approvals/requester.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import { agentMayAdd } from '../members/adding.steps.ts';
import { addMembership } from '../members/membership.steps.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { Deps, WriteCase } from '../operation/usecase.ts';
import { personNotFound } from '../people/people.rules.ts';
import { type PersonRow, shareLockPersonById } from '../people/people.store.ts';
import { requireOwnSeat } from '../seats/own-agent.steps.ts';
import { pairingView } from '../views/pairing.ts';
import { begin, requirePairingRoom } from './begin.steps.ts';
import { notYours, pairingNotFound } from './refusals.rules.ts';
import { requestById } from './requests.store.ts';

export const createPairingRequest: WriteCase<'createPairingRequest'> = {
  prepare(body) {
    refuseSecrets(body.work);
    return body;
  },
  async run(tx, caller, { body, requestId, deps }) {
    const { person_id } = caller.person;
    // Locked before the board, as in every write that needs both; what it says decides nothing yet.
    const recipient = await shareLockPersonById(tx, body.recipient_id);
    const place = await orNotFound(() => lockPlaceById(tx, caller, body.board_id));
    if (caller.kind === 'AG' && body.initiating_agent_id !== caller.seat.id) throw notYours('the agent itself');
    await requireOwnSeat(tx, body.initiating_agent_id, person_id, body.board_id);
    const person = requireMember(recipient);
    await requirePairingRoom(tx, person_id, { recipientId: person.id, boardId: place.board.id });
    const admission = await admit(tx, deps, { caller, place, person, requestId });
    const id = await begin(tx, {
      boardId: place.board.id,
      inviterId: person_id,
      agentId: body.initiating_agent_id,
      work: body.work,
      to: { recipientId: person.id, ...(admission ? { admissionId: admission.id } : {}) },
    });
    const row = await requestById(tx, id);
    if (!row) throw new Error('it was just made');
    const answer: Answer<'createPairingRequest'> = await pairingView(tx, caller, row, deps);
    if (admission?.held !== true) return { answer };
    return { status: 202, answer: { ...answer, next: allowStep(admission.id, deps.address.baseUrl()) } };
  },
  async recheck(tx, caller, { board = '' }) {
    await orNotFound(async () => asMember(caller, await seeBoardById(tx, caller, board)));
  },
};

/** A hidden board and one that the caller has left get the same answer. */
async function orNotFound<T>(look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    throw error instanceof Refusal && error.code !== 'board_archived' ? pairingNotFound() : error;
  }
}

/** @throws Refusal `person_not_found`, also for a guest. */
function requireMember(person: PersonRow | undefined): PersonRow {
  if (person && person.removed_at === null && person.server_role !== 'guest') return person;
  throw personNotFound();
}

/** Adds a recipient to a private board, or requests approval for it; null if no approval is needed. */
async function admit(
  tx: WriteTx,
  { root, address }: Deps,
  { caller, place, person, requestId }: { caller: Caller; place: Place; person: PersonRow; requestId: string },
): Promise<{ id: string; held: boolean } | null> {
  const { board, member } = place;
  if (board.visibility === 'open' || (await activeHuman(tx, board.id, person.id))) return null;
  if (caller.kind !== 'AG' || (await agentMayAdd(tx, board, member))) {
    await addMembership(tx, board, {
      person,
      actor: eventActor(member, caller.person.handle),
      ...(caller.kind === 'AG' ? { by_owner: caller.person.person_id } : {}),
    });
    return null;
  }
  const context = { tx, root, address, requester: requesterOf(caller, caller.seat.id, requestId) };
  const action = canonicalAction({ kind: 'add_people', board_id: board.id, person_id: person.id });
  const { row, done } = await openRequest(context, caller, action);
  return { id: row.id, held: done === null };
}
