/** Who may do what with the people of a server. */
import { Refusal } from '../../contract/errors.ts';
import type { ServerRole } from '../../contract/types.ts';

interface Role {
  server_role: ServerRole;
}

/** @param what they may not, after "Guests cannot". @throws Refusal `guest_not_allowed`. */
export function refuseGuest({ server_role }: Role, what: string): void {
  if (server_role !== 'guest') return;
  throw new Refusal('guest_not_allowed', `Guests cannot ${what}.`, { hint: 'Ask a member of this server.' });
}

/** @param what only they may, after "Only a server admin may". @throws Refusal `server_admin_required`. */
export function requireAdmin({ server_role }: Role, what: string): void {
  if (server_role === 'admin') return;
  throw new Refusal('server_admin_required', `Only a server admin may ${what}.`, {
    hint: 'Ask one of the admins: service people list shows who they are.',
  });
}

/** The one answer for a handle that nobody has, or that the caller may not look up. */
export const personNotFound = (): Refusal =>
  new Refusal('person_not_found', 'There is nobody with this handle on this server.', {
    hint: 'service people list shows who is here.',
  });

export const lastAdmin = ({ handle }: { handle: string }): Refusal =>
  new Refusal('last_admin', `${handle} is the only admin, and the server keeps one.`, {
    hint: 'Make somebody else an admin first: service people role HANDLE admin',
  });
