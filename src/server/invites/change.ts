/** Changing an invite that was handed out: the handle it suggests, or its end. */
import { clearForInvites } from '../approvals/capsules.store.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { pairingsOfInvites } from '../pairing/endings.steps.ts';
import { audit } from '../record/audit.steps.ts';
import { plainTransition } from '../text/state-table.ts';
import { inviteView } from '../views/invite.ts';
import { inviteTable } from './invite-states.rules.ts';
import { inviteById, saveInvite, setRevoked, stateOf } from './invites.store.ts';
import { inviteNotFound } from './refusals.rules.ts';

/** Metadata only: what the invite gives stays as it was. */
export const updateInvite: WriteCase<'updateInvite'> = {
  async run(tx, caller, { params, body }) {
    const row = await inviteById(tx, params.invite);
    if (row?.created_by !== caller.person.person_id || stateOf(row, tx.now) !== 'active') throw inviteNotFound();
    if (caller.kind === 'AG' && row.issuing_agent_id !== caller.seat.id) throw inviteNotFound();
    const suggested_handle = body.suggested_handle === '' ? null : body.suggested_handle;
    await saveInvite(tx, row.id, { suggested_handle });
    const answer = await inviteView(tx, caller, { ...row, suggested_handle });
    caller.shown.boards = answer.boards;
    return { answer };
  },
};

/** The role of an admin is not needed: the issuer of an invite may revoke it. */
export const revokeInvite: WriteCase<'revokeInvite'> = {
  async run(tx, caller, { params, requestId }) {
    const row = await inviteById(tx, params.invite);
    if (row?.created_by !== caller.person.person_id) throw inviteNotFound();
    const { to, effect } = plainTransition(inviteTable, stateOf(row, tx.now), 'revoke');
    const changed = to === 'revoked';
    if (changed) {
      await setRevoked(tx, [row.id]);
      if (effect.clears) await clearForInvites(tx, [row.id], effect.clears);
      await pairingsOfInvites(tx, [row.id]);
      await audit(tx, { action: 'invite.revoked', by: caller, target: row.id, requestId });
    }
    return { answer: { id: row.id, revoked: true as const, changed } };
  },
};
