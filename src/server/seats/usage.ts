/** What an agent's program says that it used. Not part of the record. */
import { ownPlace } from '../access/board-access.ts';
import type { SeatCaller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { usageView } from '../views/member.ts';
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
    return { answer: usageView(row) };
  },
};
