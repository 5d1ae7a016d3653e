/** The one place that decides how a member looks to a reader. */
import type { Actor, EventActor, Member } from '../../contract/types.ts';
import { type Caller, isPerson } from '../operation/caller.ts';
import type { MemberRow, MemberWithPerson } from '../seats/members.store.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';
import type { Reader, Sight } from './place.ts';

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

const seesHarness = (memberId: string, reader: Reader | null): boolean =>
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

export function memberView(member: MemberWithPerson, sight: Sight, reader: Reader | null, caller: Caller): Member {
  const agent = member.kind === 'agent';
  const active = member.status === 'active';
  return {
    id: member.id,
    board: sight.board.name,
    board_id: sight.board.id,
    name: member.name,
    kind: member.kind,
    ...(!agent && member.display_name !== null ? { display_name: member.display_name } : {}),
    role: agent ? member.role : null,
    owner: agent ? member.handle : null,
    owner_id: agent ? member.person_id : null,
    harness: agent && seesHarness(member.id, reader) ? member.harness : null,
    access: agent ? null : member.access,
    server_role: agent ? null : member.server_role,
    status: member.status,
    ...(member.removed_at !== null && !active ? { removed_at: timestamp(member.removed_at) } : {}),
    ...(member.removed_by !== null && !active ? { removed_by: member.removed_by } : {}),
    ...(agent && active && isPerson(caller) ? { can_remove: mayRemove(member, sight, caller) } : {}),
    joined_at: timestamp(member.joined_at),
    presence: agent ? 'no_session' : null,
    presence_since: agent ? timestampOrNull(null) : null,
    delivery: null,
    delivery_mode: agent ? member.delivery_mode : null,
    delivery_revision: agent ? member.delivery_revision : null,
  };
}

function mayRemove(agent: MemberRow, sight: Sight, caller: Caller): boolean {
  return (
    agent.person_id === caller.person.person_id ||
    sight.member?.access === 'admin' ||
    caller.person.server_role === 'admin'
  );
}
