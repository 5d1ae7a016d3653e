/** What needs a person beside asks and requests, worked out from what stands at the moment: nothing of it is stored. */
import type { Need } from '../../contract/types.ts';
import { placesOf } from '../access/board-access.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { brakedAgentNeeds } from '../views/needs/braked-agents.ts';
import { heldThreadNeeds } from '../views/needs/held-threads.ts';

export const listNeeds: ReadCase<'listNeeds'>['run'] = async (tx, caller) => {
  const places = await placesOf(tx, caller);
  const needs: Need[] = [
    ...(await heldThreadNeeds(tx, places)),
    ...(await brakedAgentNeeds(tx, caller.person.person_id)),
  ];
  // A brake ends by itself.
  const ends = needs.flatMap((need) => (need.kind === 'agent_braked' ? [need.until] : [])).sort();
  return { needs: needs.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)), changes_at: ends[0] ?? null };
};
