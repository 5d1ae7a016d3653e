/** Ending all that a person can act with. */
import { closeForPerson } from '../approvals/closings.steps.ts';
import { endBrowsersOf } from '../browsers/sessions.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import { endDelegations } from '../delegations/delegations.store.ts';
import { voidApproved } from '../machines/machines.store.ts';
import { holdSeats } from '../members/endings.store.ts';
import { holdKeysOf, revokeInvitesBy, revokeKeys } from './removal.store.ts';

/**
 * Ends a person's credentials and what they or their agents have handed out that could still be used; answers how many
 * keys and sessions worked until now. Rows are taken in the order in which requests hold them (credentials.store.ts);
 * the person and the boards come after.
 */
export async function endCredentials(tx: WriteTx, personId: string): Promise<{ keys: number; sessions: number }> {
  await endDelegations(tx, { person_id: personId }, 'person_removed');
  await holdSeats(tx, { of: { person: personId } });
  const keys = await holdKeysOf(tx, personId);
  // Counted while the keys they hang on work.
  const sessions = await endBrowsersOf(tx, personId);
  await revokeKeys(tx, keys);
  for (const id of keys) tx.publish(`credential:${id}`);
  await voidApproved(tx, personId);
  await revokeInvitesBy(tx, personId);
  await closeForPerson(tx, personId);
  return { keys: keys.length, sessions };
}
