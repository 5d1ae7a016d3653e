/** Opens an agent's request: it waits for the agent's person, or is done at once where their allowance covers it. */
import { DAY } from '../../contract/durations.ts';
import type { ServerInvite } from '../../contract/types.ts';
import { findCoveringAllowance } from '../allowances/allowance.steps.ts';
import type { AllowanceRow } from '../allowances/allowances.store.ts';
import type { WriteTx } from '../db/tx.ts';
import type { SeatCaller } from '../operation/caller.ts';
import { newId } from '../text/ids.ts';
import { transition } from '../text/state-table.ts';
import { type ActionContext, review } from './action-authority.steps.ts';
import { type CanonicalAction, kinds } from './actions.rules.ts';
import { approvalTable } from './approval-states.rules.ts';
import {
  type ApprovalRow,
  approvalById,
  countPending,
  effective,
  insertApproval,
  type RequestRow,
  samePending,
} from './approvals.store.ts';
import { execute } from './execute.steps.ts';
import { lockForAction } from './locks.steps.ts';
import { tooManyPending } from './refusals.rules.ts';

const PENDING_OF_SEAT = 20;
const PENDING_OF_PERSON = 100;

interface OpenedRequest {
  row: RequestRow;
  /** What was done at once; null: the person is asked. */
  done: { invite?: ServerInvite } | null;
}

/** A pending request of the seat for the same is answered instead of a second one. @throws Refusal of the person's own operation. */
export async function openRequest(
  context: ActionContext,
  caller: SeatCaller,
  { action, text, hash }: CanonicalAction,
): Promise<OpenedRequest> {
  const { tx } = context;
  const { person_id } = caller.person;
  await tx.serialise(`approvals:${person_id}`);
  if (kinds[action.kind].category !== null) await lockForAction(tx, action, null);
  const { plan, refusal } = await review(context, action, 'new');
  let allowance: AllowanceRow | null = null;
  const { effect } = await transition(approvalTable, 'new', 'request', {
    no_authority: () => refusal !== null,
    covered: async () => {
      allowance = await findCoveringAllowance(tx, context.requester, action);
      return allowance !== null;
    },
  });
  if (effect.refused) throw refusal;
  const same = action.kind === 'invite_people' ? undefined : await samePending(tx, caller.seat.id, hash);
  if (same && effective(same, tx.now).state === 'pending') return { row: same, done: null };
  await requireRoom(tx, caller);
  const row = newApproval(tx, caller, { action, text, hash });
  await insertApproval(tx, row);
  if (effect.does === 'hold' || !allowance || !plan) {
    tx.publish(`onboarding:${person_id}`);
    return { row: await reread(tx, row.id), done: null };
  }
  const done = await execute(tx, row, plan, { decision: 'allowance', allowance });
  return { row: await reread(tx, row.id), done: done ?? {} };
}

async function requireRoom(tx: WriteTx, { seat, person }: SeatCaller): Promise<void> {
  if ((await countPending(tx, { agent_id: seat.id })) >= PENDING_OF_SEAT) throw tooManyPending(PENDING_OF_SEAT);
  if ((await countPending(tx, { person_id: person.person_id })) >= PENDING_OF_PERSON)
    throw tooManyPending(PENDING_OF_PERSON);
}

const newApproval = (
  tx: WriteTx,
  { seat, person, key }: SeatCaller,
  { action, text, hash }: CanonicalAction,
): ApprovalRow => ({
  id: newId('apr', tx.now),
  person_id: person.person_id,
  agent_id: seat.id,
  parent_key_id: key.key_id,
  kind: action.kind,
  action: text,
  payload_hash: hash,
  state: 'pending',
  created_at: tx.now,
  expires_at: tx.now + DAY,
  decided_at: null,
  decision: null,
  closed_reason: null,
  executed_at: null,
  effect: null,
  authorization: null,
  invite_id: null,
});

/** The request as it is now. */
export async function reread(tx: WriteTx, id: string): Promise<RequestRow> {
  const row = await approvalById(tx, id);
  if (!row) throw new Error('an approval is never removed');
  return row;
}
