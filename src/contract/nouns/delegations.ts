/** Machine delegations. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { del, get, type OperationRow, post } from '../operation.ts';
import { directoryQuery, id, keyName, nextAfter, person, time } from '../schemas.ts';

export const newDelegationBody = z.strictObject({ name: keyName });

const delegation = z.strictObject({ id: id('dlg'), name: keyName, key_id: id('key'), created_at: time });

/** The one answer that shows the token. */
export const newDelegation = delegation.extend({ token: z.string().regex(patterns.delegation) });

export const delegationRecord = delegation.extend({
  state: z.enum(['working', 'ended']),
  ended_at: time.nullable(),
});

export const listDelegationsQuery = directoryQuery.extend({
  key: id('key').optional(),
  state: z.enum(['working', 'all']).default('working'),
});

export const delegationList = z.strictObject({
  person,
  delegations: z.array(delegationRecord),
  next_after: nextAfter,
});

export const about = 'What a machine may do for its person without their key.';

export const operations = {
  createDelegation: {
    ...post('/v1/delegations', ['PK'], 'Let a machine list, join and create boards for its person'),
    idempotency: 'S',
    ok: [201],
    body: newDelegationBody,
    errors: ['limit_reached'],
    answer: newDelegation,
  },
  listDelegations: {
    ...get('/v1/delegations', ['PK'], "List a person's machine delegations"),
    query: listDelegationsQuery,
    errors: ['key_not_found'],
    answer: delegationList,
  },
  endDelegation: {
    ...del('/v1/delegations/{delegation}', ['PK'], 'End a machine delegation'),
    params: z.object({ delegation: id('dlg') }),
    errors: ['delegation_not_found'],
    answer: delegationRecord,
  },
} as const satisfies Record<string, OperationRow>;
