/** Changes an allowance, based on the revision that was just read. */
import type { Session } from '../../../cli/session/open-session.ts';
import type { Answer, Category } from '../../../contract/types.ts';

type Allowance = Answer<'getAllowance'>;

/** @param change what is wanted of what is on now. */
export async function changeAllowance(
  { client }: Session,
  change: (categories: Category[]) => Category[],
  idempotencyKey: string | undefined,
): Promise<{ allowance: Allowance; changed: boolean }> {
  const { data: before } = await client.call('getAllowance');
  const categories = [...new Set(change(before.categories))];
  // Nothing to change; and a repeat under the same key would be based on its own first run.
  const same = categories.length === before.categories.length;
  if (same && categories.every((each) => before.categories.includes(each)))
    return { allowance: before, changed: false };
  const body = { categories, revision: before.revision };
  const { data: allowance } = await client.call('setAllowance', { body, idempotencyKey });
  return { allowance, changed: allowance.revision !== before.revision };
}
