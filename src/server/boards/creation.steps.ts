/** Who may create a board. */
import { Refusal } from '../../contract/errors.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { readSettings } from '../settings/settings.store.ts';

/** A delegation has no admin powers, also an admin's. @throws Refusal `board_creation_restricted`. */
export async function requireMayCreate(tx: WriteTx, { kind, person }: Pick<Caller, 'kind' | 'person'>): Promise<void> {
  if (person.server_role === 'admin' && kind !== 'DG') return;
  if ((await readSettings(tx)).board_creation === 'members') return;
  throw new Refusal('board_creation_restricted', 'Only server admins create boards here.', {
    hint: 'Ask an admin for a board, or to allow it to everybody: service settings set --board-creation members',
  });
}
