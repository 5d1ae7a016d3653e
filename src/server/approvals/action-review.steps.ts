/** Whether a person may do now what their agent asks for: decided once, with the refusal of the person's own operation. */
import { Refusal } from '../../contract/errors.ts';
import type { AdminAction, Approval } from '../../contract/types.ts';
import { type ActionContext, type Plan, requireAuthority } from './action-authority.steps.ts';

export class ActionReview {
  readonly #context: ActionContext;
  readonly #action: AdminAction;
  readonly #state: Approval['state'] | 'new';
  #plan: Plan | null = null;
  #refusal: Refusal | null = null;

  /** @param state an executed one is looked at again without asking whether it could be done again. */
  constructor(context: ActionContext, action: AdminAction, state: Approval['state'] | 'new') {
    this.#context = context;
    this.#action = action;
    this.#state = state;
  }

  async refuses(): Promise<boolean> {
    try {
      const makePlan = await requireAuthority(this.#context, this.#action);
      if (this.#state !== 'executed') this.#plan = await makePlan();
      // What would change nothing is not asked for; what became so meanwhile is done as that.
      if (this.#state === 'new') this.#refusal = this.plan.already;
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      this.#refusal = refusal;
    }
    return this.#refusal !== null;
  }

  get refusal(): Refusal {
    if (!this.#refusal) throw new Error('it was not refused');
    return this.#refusal;
  }

  get plan(): Plan {
    if (!this.#plan) throw new Error('it was not found possible');
    return this.#plan;
  }
}
