/** How often agents may wake an agent, and what it may cost, as its person says. Not part of the record. */
import { Refusal } from '../../contract/errors.ts';
import type { Answer } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { brakeView, budgetView } from '../views/member.ts';
import { changeBrake } from './brake.steps.ts';
import { type Brake, brakeAt, noBrake, refilled, usualWakes } from './budget.rules.ts';
import { budgetOf, type SeatBudget, saveBudget } from './budgets.store.ts';
import { lockOwnAgent } from './own-agent.steps.ts';

export const setAgentBudget: WriteCase<'setAgentBudget'> = {
  async run(tx, caller, { params, body }) {
    const own = await lockOwnAgent(tx, caller, params);
    const before = await budgetOf(tx, own.found.id);
    const budget: SeatBudget = {
      wakes: body.wakes === undefined ? before.wakes : body.wakes,
      cost: body.cost === undefined ? before.cost : body.cost,
      // Other limits start full, and what the old ones braked goes on.
      buckets: body.wakes === undefined ? before.buckets : [],
      costBucket: body.cost === undefined ? before.costBucket : null,
    };
    await saveBudget(tx, own.found.id, budget);
    const { braked_until, braked_reason, braked_at } = own.agent;
    const ends = (braked_reason === 'wakes' || braked_reason === 'cost') && body[braked_reason] !== undefined;
    const brake = ends ? brakeOfCost(budget, tx.now) : { braked_until, braked_reason, braked_at };
    return { answer: await released(tx, own, { budget, brake }) };
  },
};

export const releaseAgent: WriteCase<'releaseAgent'> = {
  async run(tx, caller, { params, body }) {
    const own = await lockOwnAgent(tx, caller, params);
    if (body.action === 'pause' && body.until <= tx.now) {
      throw new Refusal('invalid_request', 'until: must be in the future.', {
        hint: 'Give a later time, or let agents wake it again: service agent release NAME.',
      });
    }
    const budget = await budgetOf(tx, own.found.id);
    const limits = budget.wakes ?? usualWakes;
    const buckets = limits === 'off' ? budget.buckets : refilled(budget.buckets, limits, tx.now);
    // Of a cost that is not reached nothing is given back.
    const costBucket = budget.costBucket?.left === 0 ? null : budget.costBucket;
    if (body.action === 'more') await saveBudget(tx, own.found.id, { ...budget, buckets, costBucket });
    const brake = body.action === 'more' ? noBrake : pausedUntil(body.until, own.agent, tx.now);
    return { answer: await released(tx, own, { budget, brake }) };
  },
};

/** A pause by the person; what it used up and brakes it for longer than that stays. */
function pausedUntil(until: number, { braked_until, braked_reason, braked_at }: Brake, now: number): Brake {
  const held = brakeAt({ braked_until, braked_reason }, now);
  return (held?.reason === 'wakes' || held?.reason === 'cost') && held.until > until
    ? { braked_until, braked_reason, braked_at }
    : { braked_until: until, braked_reason: 'person', braked_at: now };
}

/** Other limits of wakes give back nothing of a cost that is reached. */
function brakeOfCost({ cost, costBucket }: SeatBudget, now: number): Brake {
  const until = cost && costBucket?.left === 0 ? costBucket.at + cost.seconds * 1000 : 0;
  return until > now ? { braked_until: until, braked_reason: 'cost', braked_at: now } : noBrake;
}

/** Writes the brake; answers with it and the budget. */
async function released(
  tx: WriteTx,
  { place, found }: { place: { board: { id: string; name: string } }; found: MemberRow },
  { budget, brake }: { budget: SeatBudget; brake: Brake },
): Promise<Answer<'releaseAgent'>> {
  await changeBrake(tx, found, brake);
  const now = brakeAt(brake, tx.now);
  return {
    board: place.board.name,
    agent: found.name,
    member_id: found.id,
    budget: budgetView(budget),
    braked: now && brakeView(now),
  };
}
