/** Access keys. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { del, get, type OperationRow, post } from '../operation.ts';
import { directoryQuery, handle, id, keyName, nextAfter, person, queryBool, time } from '../schemas.ts';

export const accessKey = z.strictObject({
  id: id('key'),
  name: keyName,
  created_at: time,
  expires_at: time.nullable(),
  idle_expiry_seconds: z.int().min(1).nullable(),
  state: z.enum(['working', 'revoked', 'expired']),
  revoked_at: time.nullable(),
  last_used_at: time.nullable(),
  browser_sessions: z.int().min(0),
  agent_seats: z.int().min(0),
  delegations: z.int().min(0),
  origin: z.enum(['local', 'first_admin', 'invite', 'guest_code', 'created', 'machine', 'recovery']),
  parent_key_id: id('key').nullable(),
  server_invites: z.int().min(0),
});

/** With the secret, in the answer that makes the key. */
export const newAccessKey = accessKey.extend({ token: z.string().regex(patterns.accessKey) });

export const keyParam = z.object({ key: id('key') });

export const listKeysQuery = directoryQuery.extend({
  person: handle.optional(),
  state: z.enum(['all', 'working']).default('all'),
});

export const keyList = z.strictObject({
  person,
  keys: z.array(accessKey),
  current_key_id: id('key'),
  /** When the key of this request was used before; null at its first use. */
  current_key_previous_use: time.nullable(),
  next_after: nextAfter,
});

export const createKeyBody = z.strictObject({
  name: keyName,
  ttl_seconds: z.int().min(3_600).max(31_536_000).default(7_776_000),
});

export const revokeKeyQuery = z.object({ revoke_invites: queryBool.default(false) });

/** Includes a warning if no admin is left who can manage the server. */
export const revokedKey = accessKey.extend({ warning: z.string().optional() });

export const connected = z.strictObject({ server_id: id('srv'), person, key: newAccessKey });

export const about = 'Access keys of people.';

export const operations = {
  listKeys: {
    ...get('/v1/keys', ['PK'], "List a person's access keys"),
    guests: { cannot: 'list keys' },
    query: listKeysQuery,
    errors: ['server_admin_required', 'person_not_found'],
    answer: keyList,
  },
  createKey: {
    ...post('/v1/keys', ['PK'], 'Make an access key; its token is shown once'),
    idempotency: 'S',
    ok: [201],
    guests: { cannot: 'make keys' },
    body: createKeyBody,
    errors: ['key_name_taken', 'limit_reached'],
    answer: newAccessKey,
  },
  revokeKey: {
    ...del('/v1/keys/{key}', ['PK'], 'Revoke an access key, and with it all that works because of it'),
    guests: { cannot: 'revoke keys' },
    params: keyParam,
    query: revokeKeyQuery,
    errors: ['key_not_found'],
    answer: revokedKey,
  },
} as const satisfies Record<string, OperationRow>;
