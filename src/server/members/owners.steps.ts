/** Makes and unmakes owners of a board; `ownershipChanges` decides first whether that is allowed. The board's row is locked. */
import { Refusal } from '../../contract/errors.ts';
import type { EventActor } from '../../contract/types.ts';
import { requireAnotherOwner } from '../access/authority.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Authorized } from '../record/append.steps.ts';
import { append } from '../record/append.steps.ts';
import type { MemberWithPerson } from './members.store.ts';
import { type MemberRow, setAccess } from './members.store.ts';

/** Whose ownership of which board changes, and who acts. */
interface OwnerChange {
  tx: WriteTx;
  board: BoardRow;
  /** A person on the board. */
  member: MemberRow;
  actor: EventActor;
}

/**
 * Whether making a person on a board an owner, or an owner a member, would change anything.
 * @throws Refusal `person_is_guest`, `last_owner`.
 */
export async function ownershipChanges(
  tx: WriteTx,
  board: BoardRow,
  { handle, server_role, access }: Pick<MemberWithPerson, 'handle' | 'server_role' | 'access'>,
  role: 'owner' | 'member',
): Promise<boolean> {
  if (role === 'owner' && server_role === 'guest') {
    throw new Refusal('person_is_guest', `${handle} is a guest of this server.`, {
      hint: 'Only members of the server can own a board.',
    });
  }
  const changes = (access === 'admin') !== (role === 'owner');
  if (changes && role === 'member') await requireAnotherOwner(tx, { board });
  return changes;
}

/** @param why an allowance or approval, or what the system did it for. */
export async function makeOwner(
  { tx, board, member, actor }: OwnerChange,
  why: Authorized & { reason?: 'board_had_no_owner' | 'owner_removed_from_server' } = {},
): Promise<void> {
  await setAccess(tx, member.id, 'admin');
  member.access = 'admin';
  await append(tx, board, {
    type: 'person.made_owner',
    actor,
    data: { member_id: member.id, person_id: member.person_id, name: member.name, ...why },
  });
}

/** Makes an owner a member again. The caller has made sure that another owner stays. */
export async function unmakeOwner({ tx, board, member, actor }: OwnerChange, why: Authorized = {}): Promise<void> {
  await setAccess(tx, member.id, 'member');
  member.access = 'member';
  await append(tx, board, {
    type: 'person.role_changed',
    actor,
    data: { member_id: member.id, person_id: member.person_id, before: 'owner', after: 'member', ...why },
  });
}

/** Makes a member of a board without an owner its owner; the server is the actor. */
export const makeOwnerBySystem = (
  tx: WriteTx,
  board: BoardRow,
  member: MemberRow,
  reason: 'board_had_no_owner' | 'owner_removed_from_server',
): Promise<void> =>
  makeOwner({ tx, board, member, actor: { kind: 'system', member_id: null, name: null, owner: null } }, { reason });
