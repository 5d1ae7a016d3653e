/** A person, as others see them. */
import type { BoardPerson, Person } from '../../contract/types.ts';
import type { MemberWithPerson } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { PersonRow } from '../people/people.store.ts';
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

/** A person on a board. */
export const boardPersonView = (member: MemberWithPerson, board: string): BoardPerson => ({
  id: member.person_id,
  handle: member.handle,
  display_name: member.display_name,
  board,
  name: member.name,
  member_id: member.id,
  board_role: member.access === 'admin' ? 'owner' : 'member',
  server_role: member.server_role,
  joined_at: timestamp(member.joined_at),
});
