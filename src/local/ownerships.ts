/**
 * Remembers the ownership token of each task that an agent of this machine started. It is sent with later changes, so that
 * a change is refused after somebody else has taken the task over.
 */
import type { Folders } from './folders.ts';
import { noteFile } from './private-file.ts';

interface Owned {
  member_id: string;
  task_id: string;
  ref: string;
  ownership: string;
}

interface Content {
  v: 1;
  /** The latest last. */
  tasks: Owned[];
}

const MAX_TASKS = 500;

const isContent = (value: unknown): value is Content => Array.isArray((value as Partial<Content> | null)?.tasks);
const file = noteFile<Content>('tasks.json', { v: 1, tasks: [] }, isContent);

/** The agent's ownership token of a task, given by its reference in any case, its number or its id. */
export const ownershipOf = (folders: Folders, memberId: string, task: string): string | undefined =>
  file.read(folders).tasks.findLast((owned) => isOf(owned, memberId, task))?.ownership;

/** Saves or replaces the token of a task; the oldest are deleted. */
export const rememberOwnership = (folders: Folders, owned: Owned): Promise<void> =>
  change(folders, (tasks) => [...tasks.filter((one) => !isOf(one, owned.member_id, owned.task_id)), owned]);

/** Deletes the token of a task that the agent no longer owns. */
export const forgetOwnership = (folders: Folders, memberId: string, task: string): Promise<void> =>
  change(folders, (tasks) => tasks.filter((one) => !isOf(one, memberId, task)));

/** A member is on one board, so a number alone names one of its tasks. */
const isOf = ({ member_id, task_id, ref }: Owned, memberId: string, task: string): boolean =>
  member_id === memberId &&
  [task_id, ref, ref.split('-')[1]].includes(task.startsWith('tsk_') ? task : task.toUpperCase());

const change = (folders: Folders, changed: (tasks: Owned[]) => Owned[]): Promise<void> =>
  file.change(folders, ({ tasks }) => ({ v: 1, tasks: changed(tasks).slice(-MAX_TASKS) }));
