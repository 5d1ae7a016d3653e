/** A request as its caller may see it. */
import type { Approval } from '../../contract/types.ts';
import type { ReadTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { approvalView } from '../views/approval.ts';
import { approvalById, type RequestRow } from './approvals.store.ts';
import { approvalNotFound } from './refusals.ts';

/** @throws Refusal `approval_not_found`: missing, another's, another agent's, or about what the caller may not see now. */
export async function findApproval(
  tx: ReadTx,
  caller: Caller,
  id: string,
  baseUrl: string,
): Promise<{ row: RequestRow; approval: Approval }> {
  const row = await approvalById(tx, id);
  const own = row?.person_id === caller.person.person_id;
  if (!row || !own || (caller.kind === 'AG' && row.agent_id !== caller.seat.member_id)) throw approvalNotFound();
  const approval = await approvalView(tx, caller, row, baseUrl);
  if (!approval) throw approvalNotFound();
  return { row, approval };
}
