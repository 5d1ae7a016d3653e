/** Agents of a person that other agents' messages wake no longer. */
import type { Need } from '../../../contract/types.ts';
import type { ReadTx } from '../../db/tx.ts';
import type { BrakeReason } from '../../seats/budget.rules.ts';
import { brakedAgents } from '../../seats/budgets.store.ts';
import { timestamp } from '../../text/time.ts';
import type { Needs } from './held-threads.ts';

const why: Record<Exclude<BrakeReason, 'person'>, string> = {
  wakes: ": agents' messages have used up its wakes",
  cost: ': it has reached its cost',
  reads: ', or until its program acknowledges what it reads: service inbox ack, or POST /v1/me/inbox/ack',
};

/** Those that the person paused themself need nothing of them. */
export async function brakedAgentNeeds(tx: ReadTx, personId: string): Promise<Needs> {
  const agents = await brakedAgents(tx, personId);
  const needs: Need[] = agents.flatMap(
    ({ id, name, board_id, board_name, braked_until, braked_at, braked_reason: reason }) => {
      if (reason === null || reason === 'person') return [];
      const until = timestamp(braked_until);
      const text = `${name} is paused until ${until.slice(0, 16).replace('T', ' ')} UTC${why[reason]}. People still wake it`;
      const ids = { agent: name, member_id: id, board: board_name, board_id };
      return [{ kind: 'agent_braked' as const, id, at: timestamp(braked_at ?? tx.now), text, ...ids, until, reason }];
    },
  );
  // A pause ends by itself.
  return { needs, changes: agents.map((agent) => agent.braked_until) };
}
