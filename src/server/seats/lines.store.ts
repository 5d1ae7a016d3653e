/** What agents are on now: one line each, never part of the record. */
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type LineRow = {
  member_id: string;
  kind: 'working' | 'paused';
  text: string;
  /** Milliseconds since the epoch; only of a pause. */
  until: number | null;
  task_id: string | null;
  set_by: string;
  source: 'command' | 'task' | 'plan';
  at: number;
};

export const saveLine = (tx: WriteTx, row: LineRow): Promise<number> =>
  tx.change((db) => db('agent_lines').insert(row).onConflict('member_id').merge());

export const linesOf = (tx: ReadTx, memberIds: string[]): Promise<LineRow[]> =>
  tx.query<LineRow>((db) => db('agent_lines').whereIn('member_id', memberIds).select('*'));

export const deleteLines = (tx: WriteTx, memberIds: string[]): Promise<number> =>
  tx.change((db) => db('agent_lines').whereIn('member_id', memberIds).delete());

/** Clears a member's line if it is about this task, or everybody's who has one about it. */
export const deleteLinesAbout = (tx: WriteTx, taskId: string, memberId?: string): Promise<number> =>
  tx.change((db) => {
    const query = db('agent_lines').where('task_id', taskId).delete();
    return memberId === undefined ? query : query.where('member_id', memberId);
  });
