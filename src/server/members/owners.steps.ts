/** Makes and unmakes owners of a board; `ownershipChanges` decides first whether that is allowed. The board's row is locked. */
import { Refusal } from '../../contract/errors.ts';
import { requireAnotherOwner } from '../access/authority.ts';
import { type Acting, record } from '../boards/acting.steps.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Authorized } from '../record/append.steps.ts';
import { type MemberRow, type MemberWithPerson, saveMember } from './members.store.ts';

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

type Reason = 'board_had_no_owner' | 'owner_removed_from_server';

/** Makes a person on the board an owner. @param why an allowance or approval, or what the system did it for. */
export async function makeOwner(acting: Acting, why: Authorized & { reason?: Reason } = {}): Promise<void> {
  const { id: member_id, person_id, name } = await setAccess(acting, 'admin');
  await record(acting, 'person.made_owner', { member_id, person_id, name, ...why });
}

/** Makes an owner a member again. The caller has made sure that another owner stays. */
export async function unmakeOwner(acting: Acting, why: Authorized = {}): Promise<void> {
  const { id: member_id, person_id } = await setAccess(acting, 'member');
  await record(acting, 'person.role_changed', { member_id, person_id, before: 'owner', after: 'member', ...why });
}

async function setAccess({ tx, member }: Acting, access: 'admin' | 'member'): Promise<MemberRow> {
  await saveMember(tx, member.id, { access });
  return Object.assign(member, { access });
}

/** Makes a member of a board without an owner its owner; the server is the actor. */
export const makeOwnerBySystem = (tx: WriteTx, board: BoardRow, member: MemberRow, reason: Reason): Promise<void> =>
  makeOwner({ tx, board, member, actor: { kind: 'system', member_id: null, name: null, owner: null } }, { reason });
