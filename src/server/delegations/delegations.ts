/** Machine delegations: what a machine shows in place of its person's key, and which reaches no further than joining. */
import { Refusal } from '../../contract/errors.ts';
import type { Delegation } from '../../contract/types.ts';
import { requireOwnKey } from '../keys/keys.steps.ts';
import { requireRoom } from '../operation/refusals.rules.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { newId, newSecret } from '../text/ids.ts';
import { cutPage, readPageToken } from '../text/page-token.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';
import { callerView } from '../views/person.ts';
import {
  countOpenDelegations,
  type DelegationRow,
  delegationOf,
  endDelegations,
  insertDelegation,
  listDelegationRows,
} from './delegations.store.ts';

const OF_ONE_KEY = {
  limit: 50,
  what: 'working delegations of this key',
  hint: 'service key delegations shows them; end those that are no longer used.',
};

export const createDelegation: WriteCase<'createDelegation'> = {
  async run(tx, caller, { body: { name }, deps: { root } }) {
    const { key_id } = caller.key;
    await tx.serialise(`delegations:${key_id}`);
    await endDelegations(tx, { key_id, name }, key_id);
    requireRoom(await countOpenDelegations(tx, key_id), OF_ONE_KEY);
    const token = newSecret('delegation');
    const row = { id: newId('dlg', tx.now), key_id, name, created_at: tx.now };
    const { person_id } = caller.person;
    await insertDelegation(tx, { ...row, person_id, ended_at: null, ended_by: null, digest: root.digest(token) });
    return { answer: { ...row, created_at: timestamp(tx.now), token } };
  },
};

export const listDelegations: ReadCase<'listDelegations'>['run'] = async (tx, caller, { query }) => {
  if (query.key !== undefined) await requireOwnKey(tx, caller, query.key);
  const rows = await listDelegationRows(tx, {
    personId: caller.person.person_id,
    keyId: query.key,
    ended: query.state === 'all',
    after: readPageToken(query.after),
    limit: query.limit,
  });
  const { page, next_after } = cutPage(rows, query.limit);
  return { person: callerView(caller), delegations: page.map(delegationView), next_after };
};

export const endDelegation: WriteCase<'endDelegation'> = {
  async run(tx, caller, { params }) {
    const { person_id } = caller.person;
    const id = params.delegation;
    await endDelegations(tx, { id, person_id }, caller.key.key_id);
    const row = await delegationOf(tx, person_id, id);
    if (!row) {
      throw new Refusal('delegation_not_found', 'You have no such delegation.', {
        hint: 'service key delegations --all shows yours.',
      });
    }
    return { answer: delegationView(row) };
  },
};

/** A delegation ends by itself or with its key, whichever came first. */
function delegationView(row: DelegationRow): Delegation {
  const ends = [row.ended_at, row.key_ended_at].filter((end) => end !== null);
  return {
    id: row.id,
    name: row.name,
    key_id: row.key_id,
    created_at: timestamp(row.created_at),
    state: ends.length === 0 ? 'working' : 'ended',
    ended_at: ends.length === 0 ? null : timestampOrNull(Math.min(...ends)),
  };
}
