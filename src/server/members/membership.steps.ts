/** Adds a person to a board. Every membership of a person begins here: added, invited, joined by a code. */
import { reservedMemberNames } from '../../contract/ids.ts';
import type { EventActor } from '../../contract/types.ts';
import { record } from '../boards/acting.steps.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import { firstFree } from '../boards/names.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import { requireRoom } from '../operation/refusals.rules.ts';
import type { PersonRow } from '../people/people.store.ts';
import type { Authorized } from '../record/append.steps.ts';
import { blankMember, type MemberRow } from './member.rules.ts';
import { countOwners, countPeople } from './member-counts.store.ts';
import { namesInTheWay } from './member-names.store.ts';
import { insertMember, nextMemberId, saveMember } from './members.store.ts';
import { humanOf } from './memberships.store.ts';
import { makeOwnerBySystem } from './owners.steps.ts';
import { addGap } from './positions.store.ts';

const PEOPLE = { limit: 1_000, what: 'people on this board', hint: 'Somebody has to leave it first.' };

export type Newcomer = Pick<PersonRow, 'id' | 'handle'>;

interface Arrival extends Authorized {
  person: Newcomer & Pick<PersonRow, 'server_role'>;
  /** Who brings them; left out: they come by themselves. */
  actor?: EventActor;
  via?: 'delegation';
  delegation_id?: string;
  join_code_id?: string;
  invite_id?: string;
  /** The person of the agent that added them. */
  by_owner?: string;
}

/**
 * Puts a person who is not on the board onto it as a member; somebody who was there comes back under their old id and
 * name. Nothing posted before is unread, and what they missed is kept as a gap. The board's row must be locked, and the
 * person's row too. On a board without an owner a non-guest becomes its owner.
 * @throws Refusal `limit_reached`.
 */
export async function addMembership(tx: WriteTx, board: BoardRow, arrival: Arrival): Promise<MemberRow> {
  await requireRoomForPerson(tx, board);
  const former = await humanOf(tx, board.id, arrival.person.id);
  const member = former ? await comeBack(tx, board, former) : await newMember(tx, board, arrival);
  await recordArrival(tx, board, member, arrival, former !== undefined);
  tx.publish(`account:${arrival.person.id}`);
  if (arrival.person.server_role !== 'guest' && (await countOwners(tx, board.id)) === 0) {
    await makeOwnerBySystem(tx, board, member, 'board_had_no_owner');
  }
  return member;
}

/** @throws Refusal `limit_reached` where nobody more can come onto the board. */
export const requireRoomForPerson = async (tx: WriteTx, board: BoardRow): Promise<void> =>
  requireRoom(await countPeople(tx, board.id), PEOPLE);

/** The name of a person who would come onto the board now. */
export const nameOnArrival = async (tx: WriteTx, board: BoardRow, { id, handle }: Newcomer): Promise<string> =>
  (await humanOf(tx, board.id, id))?.name ?? newName(tx, board, handle);

async function newName(tx: WriteTx, board: BoardRow, handle: string): Promise<string> {
  const taken = await namesInTheWay(tx, board.id, handle);
  return firstFree(handle, new Set([...taken, ...reservedMemberNames]));
}

/** Where a member who arrives with the board's next event stands. */
const position = (board: BoardRow, member: Pick<MemberRow, 'sent_count' | 'sent_everyone_count'>) => ({
  read_up_to: board.head_seq + 1,
  read_count: board.message_count,
  read_everyone_count: board.everyone_count,
  read_sent_count: member.sent_count,
  read_sent_everyone_count: member.sent_everyone_count,
});

async function newMember(tx: WriteTx, board: BoardRow, { person }: Arrival): Promise<MemberRow> {
  const member: MemberRow = {
    ...blankMember,
    id: await nextMemberId(tx, board.id),
    board_id: board.id,
    name: await newName(tx, board, person.handle),
    kind: 'human',
    person_id: person.id,
    access: 'member',
    first_joined_at: tx.now,
    joined_at: tx.now,
    ...position(board, blankMember),
  };
  await insertMember(tx, member);
  return member;
}

async function comeBack(tx: WriteTx, board: BoardRow, former: MemberRow): Promise<MemberRow> {
  const now = position(board, former);
  await addGap(tx, { member_id: former.id, after_seq: former.read_up_to, up_to_seq: now.read_up_to });
  const back = { access: 'member', status: 'active', joined_at: tx.now, removed_at: null, removed_by: null } as const;
  await saveMember(tx, former.id, { ...now, ...back });
  return { ...former, ...now, ...back };
}

/** A new guest joins, as an agent does; everybody else is added. */
async function recordArrival(
  tx: WriteTx,
  board: BoardRow,
  member: MemberRow,
  { person, actor, ...how }: Arrival,
  rejoined: boolean,
): Promise<void> {
  const itself: EventActor = { kind: 'human', member_id: member.id, name: member.name, owner: null };
  const setting = { tx, board, actor: actor ?? itself };
  // Without the person's id nobody could tell from the record alone which person a guest is.
  const common = { member_id: member.id, person_id: person.id, name: member.name, access: 'member' };
  if (person.server_role === 'guest' && !rejoined) {
    const plain = { role: null, owner: null, owner_id: null, harness: null, join_code_id: how.join_code_id ?? null };
    await record(setting, 'member.joined', { ...common, kind: 'human', ...plain, guest: true });
    return;
  }
  // Only what was given: the record holds no undefined.
  const given = Object.fromEntries(Object.entries(how).filter(([, value]) => value !== undefined));
  await record(setting, 'person.added', { ...common, rejoined, ...given });
}
