/** A person, as others see them. */
import type { Person } from '../../contract/types.ts';
import type { PersonRow } from '../identity/people.store.ts';
import type { Caller } from '../operation/caller.ts';
import { timestamp } from '../text/time.ts';

export const personView = (
  row: Pick<PersonRow, 'id' | 'handle' | 'display_name' | 'server_role' | 'created_at'>,
): Person => ({
  id: row.id,
  handle: row.handle,
  display_name: row.display_name,
  server_role: row.server_role,
  created_at: timestamp(row.created_at),
});

/** The person behind a credential. */
export const callerView = ({ person }: Pick<Caller, 'person'>): Person =>
  personView({ ...person, id: person.person_id, created_at: person.person_created_at });
