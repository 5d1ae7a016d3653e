/** Reading what agents asked for: a person all of it, an agent its own. */
import type { ReadCase } from '../operation/usecase.ts';
import { pairingOfInvite } from '../pairing/find.steps.ts';
import { cutPage, readPageToken } from '../text/page-token.ts';
import { approvalViews, findApproval } from '../views/approval.ts';
import { compare, effective, inOrder, listedRows } from './approvals.store.ts';
import { goneStep } from './next.rules.ts';

export const listApprovals: ReadCase<'listApprovals'>['run'] = async (
  tx,
  caller,
  { query: { state, limit, after }, deps: { address } },
) => {
  const from = readPageToken(after);
  const of = caller.kind === 'AG' ? { 'a.agent_id': caller.seat.id } : { 'a.person_id': caller.person.person_id };
  const listed = inOrder(await listedRows(tx, of), tx.now).filter(({ row, place }) => {
    const pending = effective(row, tx.now).state === 'pending';
    return (state === 'all' || pending === (state === 'pending')) && (from === null || compare(place, from) > 0);
  });
  const rows = listed.slice(0, limit + 1).map(({ row, place }) => ({ ...place, row }));
  const { page, next_after } = cutPage(rows, limit);
  const shown = page.map(({ row }) => row);
  return { approvals: await approvalViews(tx, caller, shown, address.baseUrl()), next_after };
};

/** Looking consumes nothing. */
export const getApproval: ReadCase<'getApproval'>['run'] = async (tx, caller, { params, deps: { address } }) => {
  const { approval } = await findApproval(tx, caller, params.approval, address.baseUrl());
  const gone = caller.kind === 'AG' && approval.outcome.state === 'cleared';
  const next = gone ? goneStep(approval, address.baseUrl()) : {};
  const work = await pairingOfInvite(tx, caller, approval.execution?.invite_id);
  return {
    approval: { ...approval, ...next },
    collected: false,
    ...(work === undefined ? {} : { pairing_request_id: work }),
  };
};
