/** What a caller's standing on a board lets them do, and to whom; a refusal says who could do it instead. */
import { Refusal } from '../../contract/errors.ts';
import { patterns } from '../../contract/ids.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { countOwners } from '../members/member-counts.store.ts';
import { ownerNames } from '../members/member-names.store.ts';
import { humanByHandle, type MemberRow, membersCalled, membersNamed } from '../members/members.store.ts';
import { type Caller, isPerson } from '../operation/caller.ts';
import type { Place } from './board-access.ts';

/**
 * Whether a caller decides about archiving, restoring and deleting: the creator while on the board, with their agents
 * there, or a server admin themselves.
 * @param member the caller on the board.
 */
export function decidesLifecycle(caller: Caller, board: BoardRow, member: MemberRow | null): boolean {
  if (caller.kind === 'DG') return false;
  const creator = member !== null && caller.person.person_id === board.creator_person_id;
  return creator || (isPerson(caller) && caller.person.server_role === 'admin');
}

/** @throws Refusal `owner_required` or `admin_required`, as the operation has it, to a person who is no owner. */
export async function requireOwner(
  tx: ReadTx,
  { board, member }: Place,
  code: 'owner_required' | 'admin_required' = 'owner_required',
): Promise<void> {
  if (member.kind === 'human' && member.access === 'admin') return;
  const names = await ownerNames(tx, board.id, 5);
  throw new Refusal(code, `Only an owner of ${board.name} may do this.`, {
    hint: names.length === 0 ? 'This board has no owner now.' : `Ask an owner: ${names.join(', ')}.`,
  });
}

/**
 * Whether a board keeps an owner when it loses this one. Its row must be held: whatever else ends an ownership at this
 * moment counts after us. @throws Refusal `last_owner`.
 */
export async function requireAnotherOwner(tx: ReadTx, { board }: Pick<Place, 'board'>): Promise<void> {
  if ((await countOwners(tx, board.id)) > 1) return;
  const command = `service board owners --add HANDLE --board ${board.name}`;
  throw new Refusal('last_owner', `${board.name} has no other owner.`, {
    hint:
      board.lifecycle === 'active'
        ? `Make somebody else an owner first: ${command}. If nobody else is on it: service board archive ${board.name}`
        : `Have the board restored, then make somebody else an owner: ${command}`,
  });
}

/** A person on a board by handle. @throws Refusal `person_not_on_board`. */
export async function requirePersonOn(tx: ReadTx, { board }: Pick<Place, 'board'>, handle: string) {
  const found = patterns.handle.test(handle) ? await humanByHandle(tx, board.id, handle) : undefined;
  if (found) return found;
  throw personNotOnBoard(board);
}

/** The present or former member of that name. @throws Refusal `member_not_found`. */
export async function requireMember(tx: ReadTx, { board }: Pick<Place, 'board'>, name: string): Promise<MemberRow> {
  const [member] = await membersNamed(tx, board.id, [name]);
  if (member) return member;
  throw neverThere('this board');
}

/** The same on several boards, at least one of which has one. @throws Refusal `member_not_found`. */
export async function requireMembers(tx: ReadTx, boardIds: string[], name: string): Promise<MemberRow[]> {
  const members = await membersCalled(tx, boardIds, name);
  if (members.length > 0) return members;
  throw neverThere(boardIds.length === 1 ? 'this board' : 'these boards');
}

const neverThere = (where: string): Refusal =>
  new Refusal('member_not_found', `Nobody of that name was ever on ${where}.`, {
    hint: 'service board members shows names and roles.',
  });

export const memberNotFound = ({ board }: Pick<Place, 'board'>): Refusal =>
  new Refusal('member_not_found', `There is no such member on ${board.name}.`, {
    hint: `service board members --board ${board.name} shows who is on it.`,
  });

export const personNotOnBoard = ({ name }: Pick<BoardRow, 'name'>): Refusal =>
  new Refusal('person_not_on_board', `This person is not on ${name}.`, {
    hint: `service board people --board ${name} shows who is on it.`,
  });
