/** Does what was asked for, after an approval or by an allowance: state, effect and record in one transaction. */
import type { Approval, Authorization } from '../../contract/types.ts';
import type { AllowanceRow } from '../allowances/allowances.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { markRecipientOnBoard } from '../pairing/endings.steps.ts';
import type { Plan } from './action-authority.steps.ts';
import { kinds } from './actions.rules.ts';
import { type ApprovalRow, actionOf, close, saveApproval } from './approvals.store.ts';

/** With the allowance by which it was done without asking. */
type Decision = { decision: NonNullable<Approval['decision']>; allowance?: AllowanceRow };

/** Under whose authority an action runs. */
function authorizationFor(row: ApprovalRow, { allowance }: Decision): Authorization {
  const { authorization: kind } = kinds[actionOf(row).kind];
  return {
    ...(kind ? { kind } : {}),
    person_id: row.person_id,
    agent_id: row.agent_id,
    parent_key_id: row.parent_key_id,
    via: allowance ? 'allowance' : 'approval',
    payload_hash: row.payload_hash,
    approval_id: row.id,
    ...(allowance ? { allowance_id: allowance.id, allowance_revision: allowance.revision } : {}),
  };
}

/**
 * Executes a pending row that is locked. It is closed first, so that an action that ends its own requester does not end the
 * request with it. Null when something else decided it meanwhile.
 */
export async function execute(tx: WriteTx, row: ApprovalRow, plan: Plan, decision: Decision) {
  const authorization = authorizationFor(row, decision);
  const closed = await close(tx, row.id, {
    state: 'executed',
    decision: decision.decision,
    executed_at: tx.now,
    effect: plan.already ? 'already' : 'applied',
    authorization: JSON.stringify(authorization),
  });
  if (closed === 0) return null;
  tx.publish(`onboarding:${row.person_id}`);
  await markRecipientOnBoard(tx, row.id);
  if (plan.already) return {};
  const { warning } = (await plan.run?.(authorization)) ?? {};
  const invite = await plan.issue?.(authorization);
  if (!invite) return warning === undefined ? {} : { warning };
  await saveApproval(tx, row.id, { invite_id: invite.id });
  return { invite };
}
