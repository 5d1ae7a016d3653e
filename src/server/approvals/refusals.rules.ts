/** What requests for approval are refused with. */
import { Refusal } from '../../contract/errors.ts';

/** The one answer for a request that is missing, somebody else's or about what the caller may not see. */
export const approvalNotFound = (): Refusal =>
  new Refusal('approval_not_found', 'There is no such request here.', {
    hint: 'service approval list shows the requests you can see.',
  });

export function approvalClosed(state: string): Refusal {
  const executed = state === 'executed';
  return new Refusal('approval_closed', `This request is ${state}${executed ? ' already' : '; nothing was done'}.`, {
    hint: executed ? 'Declining it takes nothing back.' : 'The agent can ask again.',
    details: { state },
  });
}

/** What is stored is not what was asked for: nothing is done with it, and the operator is told. */
export function altered(report: (message: string, about: Record<string, string>) => void, approvalId: string): Refusal {
  report('the action of an approval is not what was asked for', { approval_id: approvalId });
  return approvalClosed('not what was asked for');
}

/** Too many that wait for a decision. */
export const tooManyPending = (limit: number): Refusal =>
  new Refusal('rate_limited', `${limit} requests wait for a decision already.`, {
    hint: 'They have to be decided first: service approval list --state pending',
    retryAfter: 3_600,
    details: { limit, window_seconds: 3_600 },
  });
