/** Changes a person's role on the server. */
import { Refusal } from '../../contract/errors.ts';
import { clearForPerson } from '../approvals/closings.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import { type AuditEntry, audit } from '../record/audit.steps.ts';
import { lastAdmin } from './people.rules.ts';
import { anyAdminHasKey, countAdmins, earliestAdmin, type PersonRow, savePerson } from './people.store.ts';

interface RoleChange extends Pick<AuditEntry, 'by' | 'requestId'> {
  role: 'admin' | 'member';
}

/** What a change answers to the one who made it. */
export interface Warned {
  warning?: string;
}

/** Makes an admin of a member, or the other way round. The people are locked. @throws Refusal `last_admin`. */
export async function changeRole(tx: WriteTx, person: PersonRow, { role, by, requestId }: RoleChange): Promise<Warned> {
  const before = person.server_role;
  await requireAdminLeft(tx, person);
  await savePerson(tx, person.id, { server_role: role });
  if (role !== 'admin') await clearForPerson(tx, person.id, 'not_admin');
  const details = { before, after: role };
  await audit(tx, { action: 'person.role_changed', by, target: person.id, requestId, details });
  // What they may do with boards, and which boards they are told of, has changed.
  tx.publish(`account:${person.id}`);
  return lockedOut(tx);
}

/** @throws Refusal `last_admin` when the server would have no admin without this person. */
export async function requireAdminLeft(tx: WriteTx, person: PersonRow): Promise<void> {
  if (person.server_role === 'admin' && (await countAdmins(tx)) === 1) throw lastAdmin(person);
}

/** Tells who has just locked the last admin out; nothing while an admin has a working key. */
export async function lockedOut(tx: WriteTx): Promise<Warned> {
  const admin = (await anyAdminHasKey(tx)) ? undefined : await earliestAdmin(tx);
  if (!admin) return {};
  return {
    warning:
      'No admin of this server has a working key after that. A local server makes a new one when it starts again; ' +
      `for a team server, stop it and run: service server recover-key ${admin.handle} --data DIR`,
  };
}

/** @throws Refusal `person_is_guest`. */
export function refuseGuestRole({ handle, server_role }: PersonRow): void {
  if (server_role !== 'guest') return;
  throw new Refusal('person_is_guest', `${handle} is a guest; a guest stays one.`, {
    hint: 'Invite them to the server with an account of their own: service invite create',
  });
}
