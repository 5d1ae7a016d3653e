/** The one place that decides how a member looks to a reader. */
import type { Actor, EventActor } from '../../contract/types.ts';
import type { Caller } from '../operation/caller.ts';
import type { MemberRow } from '../seats/members.store.ts';
import type { Reader } from './place.ts';

type Shown = Pick<MemberRow, 'id' | 'name' | 'kind' | 'role' | 'harness'> & { handle: string };

/** @param reader null: somebody off the board, who is a person and sees what people see. */
export function actorView(member: Shown, reader: Reader | null): Actor {
  const agent = member.kind === 'agent';
  return {
    id: member.id,
    name: member.name,
    kind: member.kind,
    role: agent ? member.role : null,
    owner: agent ? member.handle : null,
    harness: agent && seesHarness(member.id, reader) ? member.harness : null,
  };
}

export const seesHarness = (memberId: string, reader: Reader | null): boolean =>
  reader === null || reader.showsHarness || reader.memberId === memberId;

/** Who acts, as the record freezes it. */
export function eventActor(member: Pick<MemberRow, 'id' | 'name' | 'kind'>, handle: string): EventActor {
  return { kind: member.kind, member_id: member.id, name: member.name, owner: member.kind === 'agent' ? handle : null };
}

/** The same for somebody who may act without being on the board: a server admin. */
export function actorOn(member: Pick<MemberRow, 'id' | 'name' | 'kind'> | null, { person }: Caller): EventActor {
  if (member) return eventActor(member, person.handle);
  return { kind: 'human', member_id: null, name: person.handle, owner: null };
}
