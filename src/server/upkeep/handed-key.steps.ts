/** A key that is handed to an admin as a file: made, and noted for the server's admins. */
import type { WriteTx } from '../db/tx.ts';
import { IDLE_SECONDS, makeKey } from '../keys/keys.steps.ts';
import { audit } from '../record/audit.steps.ts';
import type { RootKey } from '../text/root-key.ts';

interface HandedKey {
  personId: string;
  name: string;
  origin: 'first_admin' | 'recovery';
  /** The secret that lies in the file. */
  token: string;
}

/** @throws Refusal `limit_reached`, `key_name_taken` */
export async function makeHandedKey(tx: WriteTx, root: RootKey, { personId, ...key }: HandedKey): Promise<void> {
  const { row } = await makeKey(tx, root, {
    ...key,
    personId,
    ends: { idleSeconds: IDLE_SECONDS },
    parentKeyId: null,
  });
  await audit(tx, {
    action: key.origin === 'recovery' ? 'key.recovered' : 'key.created',
    by: null,
    target: row.id,
    requestId: null,
    details: { name: row.name, origin: row.origin, person: personId },
  });
}
