/** A task of a board as somebody named it. */
import { Refusal } from '../../contract/errors.ts';
import type { ReadTx } from '../db/tx.ts';
import { readSelector } from './references.rules.ts';
import { findTask, type TaskRow } from './tasks.store.ts';

/** @throws Refusal `task_not_found`, for a task of another board too. */
export async function requireTask(tx: ReadTx, boardId: string, selector: string): Promise<TaskRow> {
  const task = await findTask(tx, boardId, readSelector(selector));
  if (!task) throw taskNotFound();
  return task;
}

const taskNotFound = (): Refusal =>
  new Refusal('task_not_found', 'This board has no such task.', { hint: 'service task list shows what there is.' });
