/** An admin invites one person to the server. */
import { Refusal } from '../../contract/errors.ts';
import type { Body } from '../../contract/types.ts';
import { lockPlaceById } from '../access/board-access.ts';
import { refuseSecrets } from '../approvals/actions.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { requireOwnSeat } from '../seats/own-agent.steps.ts';
import { issueInvite } from './issue.steps.ts';

export const createInvite: WriteCase<'createInvite'> = {
  prepare(body) {
    if (body.pairing) refuseSecrets(body.pairing.work);
    return body;
  },
  async run(tx, caller, { body, requestId, deps: { root, address } }) {
    await tx.serialise(`invites:${caller.person.person_id}`);
    for (const id of [...body.boards].sort()) await lockPlaceById(tx, caller, id);
    await requirePairable(tx, caller, body);
    return { answer: await issueInvite({ tx, root, address }, { ...body, by: caller, requestId }) };
  },
};

/** @throws Refusal `invalid_request` (422), `pairing_not_found`. */
async function requirePairable(tx: WriteTx, { person }: Caller, { boards, pairing }: Body<'createInvite'>) {
  if (!pairing) return;
  if (boards.length !== 1) {
    throw new Refusal('invalid_request', 'Work together begins on exactly one board.', {
      status: 422,
      hint: 'Name one board.',
      details: { field: 'pairing', problem: 'needs exactly one board' },
    });
  }
  await requireOwnSeat(tx, pairing.initiating_agent_id, person.person_id, boards[0]);
}
