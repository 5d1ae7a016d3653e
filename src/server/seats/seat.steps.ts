/** Makes an agent's seat and gives a seat another token. Every seat is made here, by key, code or delegation. */
import { Refusal } from '../../contract/errors.ts';
import { reservedMemberNames } from '../../contract/ids.ts';
import { slug } from '../../contract/text.ts';
import { eventActor } from '../access/acting.ts';
import { closeForSeats } from '../approvals/closings.steps.ts';
import { record } from '../boards/acting.steps.ts';
import { type BoardRow, parsePolicy, parseRoles, saveBoard } from '../boards/boards.store.ts';
import { firstFree } from '../boards/names.rules.ts';
import { noSuchRole } from '../boards/roles.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import { blankMember, type MemberRow } from '../members/member.rules.ts';
import { agentTotals, hadAgent } from '../members/member-counts.store.ts';
import { isNameKept, namesInTheWay } from '../members/member-names.store.ts';
import { insertMember, nextMemberId, saveMember } from '../members/members.store.ts';
import { type Newcomer, nameOnArrival, requireRoomForPerson } from '../members/membership.steps.ts';
import { tellArrival } from '../notices/notices.steps.ts';
import type { Caller } from '../operation/caller.ts';
import { requireRoom } from '../operation/refusals.rules.ts';
import { newSecret } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';

const hint = 'Remove agents that are no longer used.';
const ON_BOARD = { limit: 500, what: 'agents on this board', hint };
const OF_PERSON = { limit: 100, what: 'agents of yours on this board', hint };

export interface SeatPlan {
  /** Left out: a new one. */
  id?: string;
  role: string;
  /** Left out: one is found. */
  name?: string | undefined;
  harness: string | null;
  session?: string | undefined;
  joinCodeId?: string;
  /** The delegation that brings the session. */
  delegationId?: string;
}

export interface NewSeat {
  row: MemberRow;
  token: string;
}

/** @throws Refusal `role_not_found`. */
export function requireRole(board: BoardRow, role: string): void {
  const roles = parseRoles(board);
  if (Object.hasOwn(roles, role)) return;
  throw noSuchRole(role, roles);
}

/**
 * What making a seat would be refused for, of a person who is not on the board yet: asked before anything is written of
 * their coming. @throws Refusal `role_not_found`, `name_taken`, `limit_reached`.
 */
export async function requireSeat(tx: WriteTx, board: BoardRow, person: Newcomer, plan: SeatPlan): Promise<void> {
  await requireRoomForPerson(tx, board);
  await prepareSeat(tx, board, person.id, plan);
  if (plan.name !== undefined && plan.name === (await nameOnArrival(tx, board, person))) throw nameTaken(plan.name);
}

/** The name of a new agent, and how many agents there are before it. @throws Refusal as `requireSeat` */
async function prepareSeat(tx: WriteTx, board: BoardRow, personId: string, plan: SeatPlan) {
  requireRole(board, plan.role);
  const name = await claimName(tx, board, plan);
  const totals = await agentTotals(tx, board.id, personId);
  requireRoom(totals.agents, ON_BOARD);
  requireRoom(totals.own, OF_PERSON);
  return { name, totals };
}

/** A person as a member of the board, with the key that the token depends on. */
interface Owner extends Pick<Caller, 'person' | 'key'> {
  board: BoardRow;
  member: MemberRow;
}

/**
 * Puts a new agent of a person who is on the board onto it; the board's row must be locked.
 * @throws Refusal `role_not_found`, `name_taken`, `limit_reached`.
 */
export async function makeSeat(tx: WriteTx, root: RootKey, owner: Owner, plan: SeatPlan): Promise<NewSeat> {
  const { board, person, key } = owner;
  const { name, totals } = await prepareSeat(tx, board, person.person_id, plan);
  const token = newSecret('seat');
  const row: MemberRow = {
    ...blankMember,
    id: plan.id ?? (await nextMemberId(tx, board.id)),
    board_id: board.id,
    name,
    kind: 'agent',
    person_id: person.person_id,
    role: plan.role,
    harness: plan.harness,
    first_joined_at: tx.now,
    joined_at: tx.now,
    token_digest: root.digest(token),
    key_id: key.key_id,
    session_digest: plan.session === undefined ? null : root.digest(plan.session),
    delivery_mode: 'focused',
    // Its inbox starts empty: the position is the number of its own `member.joined`.
    read_up_to: board.head_seq + 1,
    read_count: board.message_count,
    read_everyone_count: board.everyone_count,
  };
  const isFirst = totals.own === 0 && !(await hadAgent(tx, board.id, person.person_id));
  await insertMember(tx, row);
  await recordJoin(tx, owner, row, plan);
  if (isFirst) await tellArrival(tx, board, { id: person.person_id, handle: person.handle });
  const ownersWithAgents = totals.own === 0 ? totals.people + 1 : totals.people;
  if (ownersWithAgents > 1 && board.show_owner === 0) await saveBoard(tx, board, { show_owner: 1 });
  return { row, token };
}

/** Gives a working seat another token, which depends on this key; every earlier one is unknown from now on. */
export async function rotateToken(tx: WriteTx, root: RootKey, seat: MemberRow, keyId: string): Promise<NewSeat> {
  const token = newSecret('seat');
  const changes = { token_digest: root.digest(token), key_id: keyId };
  await saveMember(tx, seat.id, changes);
  if (seat.key_id !== keyId) await closeForSeats(tx, [seat.id]);
  tx.publish(`credential:${seat.id}`);
  return { row: { ...seat, ...changes }, token };
}

/** Harnesses with a shorter everyday name. */
const shortNames = new Map([['claude-code', 'claude']]);

/**
 * The name asked for; else from its harness's short name, or its role when there is none. While the policy hides harnesses,
 * agents are numbered from 1 instead.
 */
async function claimName(tx: WriteTx, board: BoardRow, { name, harness, role }: SeatPlan): Promise<string> {
  if (name === undefined) {
    const { show_harness } = parsePolicy(board);
    const shown = shortNames.get(harness ?? '') ?? (slug(harness ?? '') || role);
    const base = show_harness ? shown : 'agent';
    const taken = await namesInTheWay(tx, board.id, base);
    return firstFree(base, new Set([...taken, ...reservedMemberNames]), !show_harness);
  }
  if (reservedMemberNames.includes(name) || (await isNameKept(tx, board.id, name))) throw nameTaken(name);
  return name;
}

const nameTaken = (name: string): Refusal =>
  new Refusal('name_taken', `The name ${name} is taken on this board.`, {
    hint: 'Choose another name; members that left, and people with a new handle, keep theirs.',
  });

async function recordJoin(tx: WriteTx, { board, member, person }: Owner, agent: MemberRow, plan: SeatPlan) {
  await record({ tx, board, actor: eventActor(member, person.handle) }, 'member.joined', {
    member_id: agent.id,
    name: agent.name,
    kind: 'agent',
    role: agent.role,
    owner: person.handle,
    owner_id: person.person_id,
    harness: agent.harness,
    access: null,
    join_code_id: plan.joinCodeId ?? null,
    ...(plan.delegationId === undefined ? {} : { via: 'delegation', delegation_id: plan.delegationId }),
  });
}
