/** The way into a write of tasks and files: a board as its caller may change it. */
import type { Permission } from '../../contract/types.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { requirePermission } from '../boards/policy.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { eventActor } from './actors.ts';
import { lockPlace, requireActive } from './place.ts';

/** What an operation acts with: the board held, active, and its permission there. @throws Refusal */
export async function actingOn(tx: WriteTx, caller: Caller, board: string, permissions: readonly Permission[] = []) {
  const place = await lockPlace(tx, caller, board);
  requireActive(place.board);
  if (place.member.kind === 'agent') {
    const role = parseRoles(place.board)[place.member.role ?? ''];
    for (const permission of permissions) requirePermission(role, permission);
  }
  const actor = eventActor(place.member, caller.person.handle);
  return { place, acting: { tx, board: place.board, member: place.member, actor } };
}
