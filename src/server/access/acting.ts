/** Who acts on a board, as its record names them, and the board as its caller may change it. */
import type { EventActor, Permission } from '../../contract/types.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { requirePermission } from '../boards/policy.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import { lockPlace } from './board-access.ts';

/** What an operation acts with: the board held, and its permission there. @throws Refusal */
export async function actingOn(tx: WriteTx, caller: Caller, board: string, permissions: readonly Permission[] = []) {
  const place = await lockPlace(tx, caller, board);
  if (place.member.kind === 'agent') {
    const role = parseRoles(place.board)[place.member.role ?? ''];
    for (const permission of permissions) requirePermission(role, permission);
  }
  const actor = eventActor(place.member, caller.person.handle);
  return { place, acting: { tx, board: place.board, member: place.member, actor } };
}

/** Who acts, as the record freezes it. */
export function eventActor(member: Pick<MemberRow, 'id' | 'name' | 'kind'>, handle: string): EventActor {
  return { kind: member.kind, member_id: member.id, name: member.name, owner: member.kind === 'agent' ? handle : null };
}

/** The same for somebody who may act without being on the board: a server admin. */
export function actorOn(member: Pick<MemberRow, 'id' | 'name' | 'kind'> | null, { person }: Caller): EventActor {
  if (member) return eventActor(member, person.handle);
  return { kind: 'human', member_id: null, name: person.handle, owner: null };
}
