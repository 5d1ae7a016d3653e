/** What an agent's program says that it used. Not part of the record. */
import { ownPlace } from '../access/board-access.ts';
import type { WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import type { SeatCaller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { usageView } from '../views/member.ts';
import { brake } from './brake.steps.ts';
import { takenCost } from './budget.rules.ts';
import { budgetOf, saveBudget } from './budgets.store.ts';
import { addUsage } from './usage.store.ts';

export const reportUsage: WriteCase<'reportUsage'> = {
  async run(tx, caller, { body: { turns, input_tokens, output_tokens, cost_usd } }) {
    const { member } = await ownPlace(tx, caller as SeatCaller);
    const row = await addUsage(tx, member.id, {
      turns,
      input_tokens: input_tokens ?? null,
      output_tokens: output_tokens ?? null,
      cost_micros: cost_usd === undefined ? null : Math.round(cost_usd * 1_000_000),
    });
    if (cost_usd !== undefined) await takeCost(tx, member, cost_usd);
    return { answer: usageView(row) };
  },
};

/** Takes it from the budget that the agent's person set; what reaches the end of that brakes the seat until it is full again. */
async function takeCost(tx: WriteTx, member: MemberRow, usd: number): Promise<void> {
  const budget = await budgetOf(tx, member.id);
  if (budget.cost === null) return;
  const costBucket = takenCost(budget.costBucket, budget.cost, usd, tx.now);
  await saveBudget(tx, member.id, { ...budget, costBucket });
  if (costBucket.left === 0) await brake(tx, member, costBucket.at + budget.cost.seconds * 1000, 'cost');
}
