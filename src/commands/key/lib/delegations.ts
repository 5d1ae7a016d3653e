/** The machine delegations of the person. */

import { findKey, readKeys } from '../../../cli/access/keys.ts';
import { table } from '../../../cli/table.ts';
import { showTime, type TimeStyle } from '../../../cli/time.ts';
import type { Client } from '../../../client/client.ts';
import { pages } from '../../../client/pages.ts';
import type { Delegation, Person } from '../../../contract/types.ts';

export interface DelegationList {
  person: Person | undefined;
  delegations: Delegation[];
}

/** Oldest first; of one key, by its name or id, where one is given. */
export async function readDelegations(
  client: Client,
  { key, all }: { key: string | undefined; all: boolean },
): Promise<DelegationList> {
  const id = key === undefined || key.startsWith('key_') ? key : findKey(await readKeys(client, undefined), key).id;
  const list: DelegationList = { person: undefined, delegations: [] };
  const query = { key: id, state: all ? 'all' : 'working', limit: 500 };
  for await (const page of pages(client, 'listDelegations', { query })) {
    list.person = page.person;
    list.delegations.push(...page.delegations);
  }
  return list;
}

/** One row per delegation. */
export const delegationRows = (delegations: Delegation[], times: TimeStyle): Promise<string[]> =>
  table(
    ['ID', 'NAME', 'STATE', 'KEY', 'MADE', 'ENDED'],
    delegations.map(({ id, name, key_id, created_at, state, ended_at }) => [
      id,
      name,
      state,
      key_id,
      showTime(created_at, times),
      ended_at === null ? '' : showTime(ended_at, times),
    ]),
  );
