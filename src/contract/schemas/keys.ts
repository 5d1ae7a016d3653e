/** Access keys. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { id, keyName, time } from './common.ts';

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
