/** Makes a key for a person. Every key is made here, for signing up, guests, machines and further keys alike. */
import { Refusal } from '../../contract/errors.ts';
import type { WriteTx } from '../db/tx.ts';
import { newId, newSecret } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';
import { findKey, insertKey } from './credentials.store.ts';
import { type AccessKeyRow, workingKeyNames } from './keys.store.ts';

const MAX_WORKING_KEYS = 100;
/** A machine's key ends when it was not used for this long. */
export const IDLE_SECONDS = 7_776_000;

export interface KeyPlan {
  personId: string;
  name: string;
  origin: AccessKeyRow['origin'];
  /** Either a fixed end, in milliseconds since the epoch, or seconds without use after which it ends. */
  ends: { at: number } | { idleSeconds: number };
  parentKeyId: string | null;
  /** A secret that the client made and saved itself; default: a new one. */
  token?: string;
}

/**
 * Adds a working key; the caller shows its token once.
 * @throws Refusal `key_name_taken` (by another working key), `limit_reached`.
 */
export async function makeKey(
  tx: WriteTx,
  root: RootKey,
  plan: KeyPlan,
): Promise<{ row: AccessKeyRow; token: string }> {
  const names = await workingKeyNames(tx, plan.personId);
  if (names.size >= MAX_WORKING_KEYS) {
    throw new Refusal('limit_reached', `There are already ${MAX_WORKING_KEYS} working keys of this person.`, {
      hint: 'service key list shows them; revoke those that are no longer used.',
      details: { what: 'working keys', limit: MAX_WORKING_KEYS },
    });
  }
  if (names.has(plan.name)) {
    throw new Refusal('key_name_taken', `A working key is called ${plan.name} already.`, {
      hint: 'Choose another name, or revoke that key first.',
    });
  }
  const idle = 'idleSeconds' in plan.ends ? plan.ends.idleSeconds : null;
  const row: AccessKeyRow = {
    id: newId('key', tx.now),
    person_id: plan.personId,
    name: plan.name,
    created_at: tx.now,
    expires_at: 'at' in plan.ends ? plan.ends.at : tx.now + plan.ends.idleSeconds * 1000,
    idle_seconds: idle,
    revoked_at: null,
    last_used_at: null,
    origin: plan.origin,
    parent_key_id: plan.parentKeyId,
  };
  const token = plan.token ?? newSecret('key');
  const { revoked_at: _revoked, last_used_at: _used, ...fields } = row;
  await insertKey(tx, { ...fields, digest: root.digest(token) });
  return { row, token };
}

/** A client whose answer was lost comes with the same token again, but then its invite or code is used up. @throws Refusal */
export async function requireUnusedToken(tx: WriteTx, root: RootKey, token: string): Promise<void> {
  if (!(await findKey(tx, root.digest(token)))) return;
  throw new Refusal('invalid_request', 'client_token: was used for a key before.', {
    hint: 'Make a new one each time.',
    details: { field: 'client_token', problem: 'was used for a key before' },
  });
}
