/** Machine delegations. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { directoryQuery, id, keyName, nextAfter, person, time } from './common.ts';

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
