/** Ends requests and capsules when a seat, key, person or board ends. */
import type { Knex } from 'knex';
import { changeAllowance } from '../allowances/allowance.steps.ts';
import { allowanceOf } from '../allowances/allowances.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { tellDecision } from '../notices/notices.steps.ts';
import {
  endpointsOfKeys,
  endpointsOfSeats,
  pairingsOfApproval,
  pairingsOfBoard,
  pairingsOfMembership,
  pairingsOfPerson,
} from '../pairing/endings.steps.ts';
import { plainTransition } from '../text/state-table.ts';
import { approvalTable, type Ending } from './approval-states.rules.ts';
import { type ApprovalRow, close, pendingOf } from './approvals.store.ts';
import { clearCapsules } from './capsules.store.ts';

type Narrow = (query: Knex.QueryBuilder) => Knex.QueryBuilder;

/** Records how pending requests ended and tells their agents. A request that was overdue by then has expired instead. */
export async function closeRows(tx: WriteTx, rows: ApprovalRow[], ending: Ending): Promise<void> {
  for (const row of rows) {
    const overdue = row.expires_at <= tx.now;
    const { effect } = plainTransition(approvalTable, 'pending', overdue ? 'time_over' : ending);
    const decided_at = overdue ? row.expires_at : tx.now;
    await close(tx, row.id, { state: 'expired', closed_reason: effect.reason ?? null, decided_at });
    if (effect.notice) await tellDecision(tx, row, effect.notice);
    await pairingsOfApproval(tx, row.id);
    tx.publish(`onboarding:${row.person_id}`);
  }
}

/** Closes what is pending of these requests, and clears what could still be collected. */
async function end(tx: WriteTx, of: Narrow, ending: Ending, reason: string): Promise<void> {
  await closeRows(tx, await pendingOf(tx, of), ending);
  await clearOf(tx, of, reason);
}

const clearOf = (tx: WriteTx, narrow: Narrow, reason: string): Promise<number> =>
  clearCapsules(tx, (query, db) => query.whereIn('approval_id', narrow(db({ a: 'approvals' })).select('a.id')), reason);

/** Seats ended, or came under another key. */
export async function closeForSeats(tx: WriteTx, seatIds: string[]): Promise<void> {
  if (seatIds.length === 0) return;
  await end(tx, (query) => query.whereIn('a.agent_id', seatIds), 'seat_ended', 'requester_ended');
  await endpointsOfSeats(tx, seatIds);
}

export async function closeForKeys(tx: WriteTx, keyIds: string[]): Promise<void> {
  if (keyIds.length === 0) return;
  await end(tx, (query) => query.whereIn('a.parent_key_id', keyIds), 'key_ended', 'key_ended');
  await endpointsOfKeys(tx, keyIds);
}

/** A person leaves the server: nothing they or their agents asked for or were allowed goes on. */
export async function closeForPerson(tx: WriteTx, personId: string): Promise<void> {
  await end(tx, (query) => query.where('a.person_id', personId), 'person_ended', 'person_ended');
  await pairingsOfPerson(tx, personId);
  const ends = { trigger: 'person_ended', categories: [], by: { changed_with: 'server' } } as const;
  await changeAllowance(tx, await allowanceOf(tx, personId), ends);
}

/** A board is deleted: the seats on it ask for nothing more. */
export async function closeForBoard(tx: WriteTx, boardId: string): Promise<void> {
  const of: Narrow = (query) =>
    query.whereIn('a.agent_id', (seats) => seats.from('members').where('board_id', boardId).select('id'));
  await end(tx, of, 'seat_ended', 'requester_ended');
  await clearOf(tx, (query) => naming(query, boardId), 'board_deleted');
  await pairingsOfBoard(tx, boardId);
}

/** A person is off a board: what their agents could still collect for it is gone, and work they have part in there is over. */
export async function clearForMembership(tx: WriteTx, personId: string, boardId: string): Promise<void> {
  await clearOf(tx, (query) => naming(query.where('a.person_id', personId), boardId), 'off_board');
  await pairingsOfMembership(tx, personId, boardId);
}

/** Ids hold no character that means something to LIKE but `_`, which stands for itself too. */
const naming = (query: Knex.QueryBuilder, boardId: string): Knex.QueryBuilder =>
  query.where('a.kind', 'invite_people').where('a.action', 'like', `%"${boardId}"%`);

/** A person is no server admin any more: what their agents could still collect is gone. */
export const clearForPerson = (tx: WriteTx, personId: string, reason: string): Promise<number> =>
  clearOf(tx, (query) => query.where('a.person_id', personId), reason);
