/** Agents as their person has them: on which boards, how messages reach them, and the task they are on. */
import type { MidturnPolicy } from '../../contract/types.ts';
import { lifecycles } from '../../contract/values.ts';
import { firstRow } from '../db/query.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/member.rules.ts';
import type { Brake } from './budget.rules.ts';

interface OwnAgentsFilter {
  personId: string;
  /** On this board only. */
  boardId?: string;
  after?: string;
  limit: number;
}

interface OwnAgent {
  id: string;
  board_id: string;
  board_name: string;
}

/** A person's active agents on boards that are not deleted, by id. */
export const agentsOfPerson = (tx: ReadTx, { personId, boardId, after, limit }: OwnAgentsFilter): Promise<OwnAgent[]> =>
  tx.query<OwnAgent>((db) => {
    const query = db({ m: 'members' })
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .where({ 'm.person_id': personId, 'm.kind': 'agent', 'm.status': 'active' })
      .whereIn('b.lifecycle', lifecycles)
      .orderBy('m.id')
      .limit(limit)
      .select({ id: 'm.id', board_id: 'b.id', board_name: 'b.name' });
    if (boardId !== undefined) query.where('m.board_id', boardId);
    if (after !== undefined) query.where('m.id', '>', after);
    return query;
  });

export type SeatMode = Brake & Pick<MemberRow, 'status' | 'delivery_mode' | 'delivery_revision'>;

/** How messages reach a seat, and what brakes it; its row is locked for this transaction alone to write. */
export const lockMode = (tx: WriteTx, id: string): Promise<SeatMode | undefined> =>
  firstRow(tx, (db) => {
    const query = db('members').where('id', id).select('status', 'delivery_mode', 'delivery_revision');
    query.select('braked_until', 'braked_reason', 'braked_at');
    return tx.dialect.shared ? query.forNoKeyUpdate() : query;
  });

/** Nobody is on this task any more, or one member is not. */
export const clearCurrentTask = (tx: WriteTx, taskId: string, memberId?: string): Promise<number> =>
  tx.change((db) => {
    const query = db('members').where('current_task_id', taskId).update({ current_task_id: null });
    return memberId === undefined ? query : query.where('id', memberId);
  });

/** The mid-turn policies that a person set for single ones of their active agents. */
export const midturnExceptions = (tx: ReadTx, personId: string) =>
  tx.query<{ member_id: string; policy: MidturnPolicy }>((db) =>
    db({ m: 'members' })
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .where({ 'm.person_id': personId, 'm.kind': 'agent', 'm.status': 'active' })
      .whereNotNull('m.midturn_policy')
      .whereIn('b.lifecycle', lifecycles)
      .orderBy('m.id')
      .select({ member_id: 'm.id', policy: 'm.midturn_policy' }),
  );
