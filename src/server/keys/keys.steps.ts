/** Makes and revokes a person's keys, for signing up, guests, machines, admins and approved requests alike. */
import { Refusal } from '../../contract/errors.ts';
import { closeForKeys } from '../approvals/closings.steps.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { invalidField, requireRoom } from '../operation/refusals.rules.ts';
import { personById } from '../people/people.store.ts';
import { lockedOut, type Warned } from '../people/role.steps.ts';
import { type AuditEntry, audit } from '../record/audit.steps.ts';
import { newId, newSecret } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';
import { findKey, insertKey } from './credentials.store.ts';
import { type AccessKeyRow, keyOf, setRevoked, workingKeyNames } from './keys.store.ts';

const WORKING = {
  limit: 100,
  what: 'working keys',
  hint: 'service key list shows them; revoke those that are no longer used.',
  text: 'There are already 100 working keys of this person.',
};
/** A machine's key ends when it was not used for this long. */
export const IDLE_SECONDS = 7_776_000;

interface KeyPlan {
  personId: string;
  name: string;
  origin: AccessKeyRow['origin'];
  /** Either a fixed end, in milliseconds since the epoch (null: none), or seconds without use after which it ends. */
  ends: { at: number | null } | { idleSeconds: number };
  parentKeyId: string | null;
  /** A secret that the client made and saved itself; default: a new one. */
  token?: string;
}

/**
 * Adds a working key; the caller shows its token once.
 * @throws Refusal `key_name_taken` (by another working key), `limit_reached`.
 */
export async function makeKey(tx: WriteTx, root: RootKey, plan: KeyPlan) {
  const names = await workingKeyNames(tx, plan.personId);
  // Who has lost the local key, or recovers one, may hold none of those that work.
  if (plan.origin !== 'local' && plan.origin !== 'recovery') requireRoom(names.size, WORKING);
  if (names.has(plan.name)) {
    throw new Refusal('key_name_taken', `A working key is called ${plan.name} already.`, {
      hint: 'Choose another name, or revoke that key first.',
    });
  }
  const row: AccessKeyRow = {
    id: newId('key', tx.now),
    person_id: plan.personId,
    name: plan.name,
    created_at: tx.now,
    expires_at: 'at' in plan.ends ? plan.ends.at : tx.now + plan.ends.idleSeconds * 1000,
    idle_seconds: 'idleSeconds' in plan.ends ? plan.ends.idleSeconds : null,
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
  throw invalidField('client_token', 'was used for a key before', 'Make a new one each time.');
}

/** Ends a working key, and with it all that works because of it. */
export async function endKey(
  tx: WriteTx,
  row: AccessKeyRow,
  { by, requestId }: Pick<AuditEntry, 'by' | 'requestId'>,
): Promise<Warned> {
  await setRevoked(tx, [row.id]);
  await closeForKeys(tx, [row.id]);
  await audit(tx, { action: 'key.revoked', by, target: row.id, requestId, details: { name: row.name } });
  // Everything that works because of this key is watched under it: streams, waits, sessions, seats.
  tx.publish(`credential:${row.id}`);
  const owner = await personById(tx, row.person_id);
  return owner?.server_role === 'admin' && owner.removed_at === null ? lockedOut(tx) : {};
}

/** One's own key; an admin anybody's. */
export const mayRevoke = ({ person }: Pick<Caller, 'person'>, owner: string): boolean =>
  owner === person.person_id || person.server_role === 'admin';

export const keyNotFound = (): Refusal =>
  new Refusal('key_not_found', 'There is no such key of yours.', { hint: 'service key list shows your keys.' });

/** @throws Refusal `key_not_found` for a key that the caller's person neither has nor had. */
export async function requireOwnKey(tx: ReadTx, { person }: Pick<Caller, 'person'>, id: string): Promise<void> {
  if ((await keyOf(tx, person.person_id, id)) === undefined) throw keyNotFound();
}
