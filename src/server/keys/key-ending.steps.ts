/** Revokes a key, for its person, for an admin and for an approved request. */
import { Refusal } from '../../contract/errors.ts';
import { closeForKeys } from '../approvals/closings.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { type AuditEntry, audit } from '../record/audit.steps.ts';
import { type AccessKeyRow, setRevoked } from './keys.store.ts';

/** Ends a working key, and with it all that works because of it. */
export async function endKey(
  tx: WriteTx,
  row: AccessKeyRow,
  { by, requestId }: Pick<AuditEntry, 'by' | 'requestId'>,
): Promise<void> {
  await setRevoked(tx, [row.id]);
  await closeForKeys(tx, [row.id]);
  await audit(tx, { action: 'key.revoked', by, target: row.id, requestId, details: { name: row.name } });
  // Everything that works because of this key is watched under it: streams, waits, sessions, seats.
  tx.publish(`credential:${row.id}`);
}

/** One's own key; an admin anybody's. */
export const mayRevoke = ({ person }: Pick<Caller, 'person'>, owner: string): boolean =>
  owner === person.person_id || person.server_role === 'admin';

export const keyNotFound = (): Refusal =>
  new Refusal('key_not_found', 'There is no such key of yours.', { hint: 'service key list shows your keys.' });
