/** What needs a person beside asks and requests, worked out from what stands at the moment: nothing of it is stored. */
import { placesOf } from '../access/board-access.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { timestampOrNull } from '../text/time.ts';
import { brakedAgentNeeds } from '../views/needs/braked-agents.ts';
import { heldThreadNeeds } from '../views/needs/held-threads.ts';
import { staleTaskNeeds } from '../views/needs/stale-tasks.ts';
import { waitingNeeds } from '../views/needs/waiting-agents.ts';

export const listNeeds: ReadCase<'listNeeds'>['run'] = async (tx, caller) => {
  const places = await placesOf(tx, caller);
  const found = [
    await heldThreadNeeds(tx, places),
    await brakedAgentNeeds(tx, caller.person.person_id),
    await waitingNeeds(tx, places),
    await staleTaskNeeds(tx, places),
  ];
  const needs = found.flatMap((each) => each.needs).sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const changes = found.flatMap((each) => each.changes);
  return { needs, changes_at: timestampOrNull(changes.length === 0 ? null : Math.min(...changes)) };
};
