/** The task an agent is on, kept on its member row. */
import type { WriteTx } from '../db/tx.ts';

export const setCurrentTask = (tx: WriteTx, memberId: string, taskId: string | null): Promise<number> =>
  tx.change((db) => db('members').where('id', memberId).update({ current_task_id: taskId }));

/** Nobody is on this task any more, or one member is not. */
export const clearCurrentTask = (tx: WriteTx, taskId: string, memberId?: string): Promise<number> =>
  tx.change((db) => {
    const query = db('members').where('current_task_id', taskId).update({ current_task_id: null });
    return memberId === undefined ? query : query.where('id', memberId);
  });
