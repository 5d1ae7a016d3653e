/** Whether a person may do now what their agent asks for: with the refusal of the person's own operation. */
import { Refusal } from '../../contract/errors.ts';
import type { AdminAction, Approval } from '../../contract/types.ts';
import { type ActionContext, type Plan, requireAuthority } from './action-authority.steps.ts';

export interface Review {
  plan: Plan | null;
  refusal: Refusal | null;
}

/** @param state an executed one is looked at again without asking whether it could be done again. */
export async function review(
  context: ActionContext,
  action: AdminAction,
  state: Approval['state'] | 'new',
): Promise<Review> {
  try {
    const makePlan = await requireAuthority(context, action);
    const plan = state === 'executed' ? null : await makePlan();
    // What would change nothing is not asked for; what became so meanwhile is done as that.
    return { plan, refusal: (state === 'new' && plan?.already) || null };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return { plan: null, refusal };
  }
}
