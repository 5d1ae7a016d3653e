/** Approvals, as their person and the agent that asked see them. Never a secret. */
import type { AdminAction, Approval } from '../../contract/types.ts';
import { boardsNamed, personNamed } from '../approvals/actions.rules.ts';
import {
  actionOf,
  approvalById,
  authorizationOf,
  decidedAt,
  effective,
  type RequestRow,
} from '../approvals/approvals.store.ts';
import { type CapsuleRow, capsuleState, capsulesOf } from '../approvals/capsules.store.ts';
import { allowStep } from '../approvals/next.rules.ts';
import { approvalNotFound } from '../approvals/refusals.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import { keysWithIds } from '../keys/keys.store.ts';
import { membersById } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import { peopleWithIds } from '../people/people.store.ts';
import { idsIn, indexBy } from '../text/rows.ts';
import { timestamp } from '../text/time.ts';
import { boardLabels } from './board-list.ts';
import { some } from './some.ts';

/** Of these, the ones whose boards and key the caller's person may see now; each as a record. */
export async function approvalViews(tx: ReadTx, caller: Pick<Caller, 'person'>, rows: RequestRow[], baseUrl: string) {
  const facts = await gather(tx, caller, rows);
  return rows.filter((row) => isVisible(row, facts, caller)).map((row) => viewOf(row, facts, tx.now, baseUrl));
}

/**
 * A request as its caller may see it.
 * @throws Refusal `approval_not_found`: missing, another's, another agent's, or about what the caller may not see now.
 */
export async function findApproval(tx: ReadTx, caller: Caller, id: string, baseUrl: string) {
  const row = await approvalById(tx, id);
  const own = row?.person_id === caller.person.person_id;
  if (!row || !own || (caller.kind === 'AG' && row.agent_id !== caller.seat.id)) throw approvalNotFound();
  const [approval] = await approvalViews(tx, caller, [row], baseUrl);
  if (!approval) throw approvalNotFound();
  return { row, approval };
}

/** A request that the caller has just made or decided, shown even if they may not see it afterwards. */
export const ownView = async (tx: ReadTx, caller: Pick<Caller, 'person'>, row: RequestRow, baseUrl: string) =>
  viewOf(row, await gather(tx, caller, [row]), tx.now, baseUrl);

type Facts = Awaited<ReturnType<typeof gather>>;

async function gather(tx: ReadTx, { person }: Pick<Caller, 'person'>, rows: RequestRow[]) {
  const actions = rows.map(actionOf);
  const ids = new Set(actions.flatMap(boardsNamed));
  for (const { seat_board_id: id } of rows) if (id !== null) ids.add(id);
  const keyIds = actions.flatMap((action) => (action.kind === 'revoke_key' ? [action.key_id] : []));
  const keys = indexBy(await keysWithIds(tx, keyIds), 'id');
  const targets = actions.flatMap((action) => targetOf(action, keys) ?? []);
  const people = await peopleWithIds(tx, [...new Set([...targets, ...rows.map((row) => row.person_id)])]);
  const agentIds = rows.map((row) => row.agent_id);
  return {
    boards: await boardLabels(tx, { person }, [...ids]),
    people: indexBy(people, 'id'),
    agents: await membersById(tx, agentIds),
    keys,
    capsules: await capsulesOf(tx, idsIn(rows)),
  };
}

/** The person an action is about, or whose key it is about. */
const targetOf = (action: AdminAction, keys: Map<string, { person_id: string }>): string | null | undefined =>
  action.kind === 'revoke_key' ? keys.get(action.key_id)?.person_id : personNamed(action);

function isVisible(row: RequestRow, { boards, keys }: Facts, { person }: Pick<Caller, 'person'>): boolean {
  const action = actionOf(row);
  if (action.kind === 'revoke_key') {
    const owner = targetOf(action, keys);
    return owner !== undefined && (owner === person.person_id || person.server_role === 'admin');
  }
  return boardsNamed(action).every((id) => boards.has(id));
}

function viewOf(row: RequestRow, facts: Facts, now: number, baseUrl: string): Approval {
  const { state, reason } = effective(row, now);
  const authorization = authorizationOf(row);
  const decided = state === 'pending' ? null : decidedAt(row);
  return {
    id: row.id,
    person_id: row.person_id,
    agent_id: row.agent_id,
    parent_key_id: row.parent_key_id,
    action: actionOf(row),
    payload_hash: row.payload_hash,
    state,
    created_at: timestamp(row.created_at),
    expires_at: timestamp(row.expires_at),
    ...(decided === null ? {} : { decided_at: timestamp(decided) }),
    ...some('decision', row.decision),
    ...some('closed_reason', reason),
    ...(row.executed_at === null || authorization === null
      ? {}
      : {
          execution: {
            at: timestamp(row.executed_at),
            effect: row.effect ?? 'applied',
            authorization,
            ...some('invite_id', row.invite_id),
          },
        }),
    outcome: outcomeOf(facts.capsules.get(row.id), now),
    display: displayOf(row, actionOf(row), facts),
    ...(state === 'pending' ? { next: allowStep(row.id, baseUrl) } : {}),
  };
}

function outcomeOf(capsule: CapsuleRow | undefined, now: number): Approval['outcome'] {
  if (!capsule) return { state: 'none' };
  const state = capsuleState(capsule, now);
  const until = state === 'held' ? capsule.expires_at : state === 'collected' ? capsule.until : null;
  return { state, ...(until === null ? {} : { until: timestamp(until) }) };
}

function displayOf(row: RequestRow, action: AdminAction, facts: Facts): NonNullable<Approval['display']> {
  const agent = facts.agents.get(row.agent_id);
  const target = targetOf(action, facts.keys);
  return {
    ...some('person_handle', facts.people.get(row.person_id)?.handle),
    ...some('agent_name', agent?.name),
    ...some('agent_harness', agent?.harness),
    ...some('target_handle', target ? facts.people.get(target)?.handle : undefined),
    ...some('key_name', action.kind === 'revoke_key' ? facts.keys.get(action.key_id)?.name : undefined),
    ...some('requested_on', facts.boards.get(row.seat_board_id ?? '')),
    boards: boardsNamed(action).flatMap((id) => facts.boards.get(id) ?? []),
  };
}
