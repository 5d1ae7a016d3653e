/** Makes an agent's seat and gives a seat another token. Every seat is made here, by key, code or delegation. */
import { Refusal } from '../../contract/errors.ts';
import { reservedMemberNames } from '../../contract/ids.ts';
import type { EventActor } from '../../contract/types.ts';
import { closeForSeats } from '../approvals/closings.steps.ts';
import { type BoardRow, parsePolicy, parseRoles, setShowOwner } from '../boards/boards.store.ts';
import { firstFree } from '../boards/names.rules.ts';
import { noSuchRole } from '../boards/roles.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import { blankMember, type MemberRow } from '../members/member.rules.ts';
import { agentTotals } from '../members/member-counts.store.ts';
import { memberNames } from '../members/member-names.store.ts';
import { insertMember, memberByName, replaceToken } from '../members/members.store.ts';
import { tellArrival } from '../notices/notices.steps.ts';
import { requireRoom } from '../operation/refusals.rules.ts';
import { append } from '../record/append.steps.ts';
import { newId, newSecret } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';
import { agentNameBase } from './names.rules.ts';

const hint = 'Remove agents that are no longer used.';
const ON_BOARD = { limit: 500, what: 'agents on this board', hint };
const OF_PERSON = { limit: 100, what: 'your agents on this board', hint };

interface SeatPlan {
  /** Left out: a new one. */
  id?: string;
  person: { person_id: string; handle: string };
  /** The key the token depends on. */
  keyId: string;
  /** The person's own member. */
  actor: EventActor;
  role: string;
  /** Left out: one is found. */
  name: string | undefined;
  harness: string | null;
  session: string | undefined;
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
 * Puts a new agent of a person who is on the board onto it; the board's row must be locked.
 * @throws Refusal `role_not_found`, `name_taken`, `limit_reached`.
 */
export async function makeSeat(tx: WriteTx, root: RootKey, board: BoardRow, plan: SeatPlan): Promise<NewSeat> {
  requireRole(board, plan.role);
  const name = await claimName(tx, board, plan);
  const totals = await agentTotals(tx, board.id, plan.person.person_id);
  requireRoom(totals.agents, ON_BOARD);
  requireRoom(totals.own, OF_PERSON);
  const token = newSecret('seat');
  const row: MemberRow = {
    ...blankMember,
    id: plan.id ?? newId('mem', tx.now),
    board_id: board.id,
    name,
    kind: 'agent',
    person_id: plan.person.person_id,
    role: plan.role,
    harness: plan.harness,
    first_joined_at: tx.now,
    joined_at: tx.now,
    token_digest: root.digest(token),
    key_id: plan.keyId,
    session_digest: plan.session === undefined ? null : root.digest(plan.session),
    delivery_mode: 'focused',
    // Its inbox starts empty: the position is the number of its own `member.joined`.
    read_up_to: board.head_seq + 1,
    read_count: board.message_count,
    read_everyone_count: board.everyone_count,
  };
  await insertMember(tx, row);
  await recordJoin(tx, board, row, plan);
  const { person_id: id, handle } = plan.person;
  if (totals.own === 0) await tellArrival(tx, board, { id, handle });
  const ownersWithAgents = totals.own === 0 ? totals.people + 1 : totals.people;
  if (ownersWithAgents > 1 && board.show_owner === 0) {
    await setShowOwner(tx, board.id, true);
    board.show_owner = 1;
  }
  return { row, token };
}

/** Gives a working seat another token, which depends on this key; every earlier one is unknown from now on. */
export async function rotateToken(tx: WriteTx, root: RootKey, seat: MemberRow, keyId: string): Promise<NewSeat> {
  const token = newSecret('seat');
  const row = { ...seat, token_digest: root.digest(token), key_id: keyId };
  await replaceToken(tx, row);
  if (seat.key_id !== keyId) await closeForSeats(tx, [seat.id]);
  tx.publish(`credential:${seat.id}`);
  return { row, token };
}

async function claimName(tx: WriteTx, board: BoardRow, { name, harness, role }: SeatPlan): Promise<string> {
  if (name === undefined) {
    const { show_harness } = parsePolicy(board);
    const base = agentNameBase(show_harness, harness, role);
    const taken = await memberNames(tx, board.id, base);
    return firstFree(base, new Set([...taken, ...reservedMemberNames]), 40, !show_harness);
  }
  if (reservedMemberNames.includes(name) || (await memberByName(tx, board.id, name)) !== undefined) {
    throw new Refusal('name_taken', `The name ${name} is taken on this board.`, {
      hint: 'Choose another name; members that left keep theirs.',
    });
  }
  return name;
}

async function recordJoin(tx: WriteTx, board: BoardRow, agent: MemberRow, plan: SeatPlan): Promise<void> {
  await append(tx, board, {
    type: 'member.joined',
    actor: plan.actor,
    data: {
      member_id: agent.id,
      name: agent.name,
      kind: 'agent',
      role: agent.role,
      owner: plan.person.handle,
      owner_id: plan.person.person_id,
      harness: agent.harness,
      access: null,
      join_code_id: plan.joinCodeId ?? null,
      ...(plan.delegationId === undefined ? {} : { via: 'delegation', delegation_id: plan.delegationId }),
    },
  });
}
