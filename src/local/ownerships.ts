/**
 * Remembers what a server gave an agent of this machine when it started a task, which is sent with its later changes: a
 * change that comes after somebody else took the task over is then refused.
 */
import { join } from 'node:path';
import type { Folders } from './folders.ts';
import { withLock } from './lock.ts';
import { parseOwn, readPrivate, writePrivate } from './private-file.ts';

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

const MOST = 500;

/** What the agent was given for a task, named by its reference in any letter case, its number or its id. */
export const ownershipOf = (folders: Folders, memberId: string, task: string): string | undefined =>
  read(folders).tasks.findLast((owned) => isOf(owned, memberId, task))?.ownership;

/** Keeps what was given for a task in place of what was kept for it; the oldest are dropped. */
export const rememberOwnership = (folders: Folders, owned: Owned): Promise<void> =>
  change(folders, (tasks) => [...tasks.filter((one) => !isOf(one, owned.member_id, owned.task_id)), owned]);

/** The agent has the task no more, and was told so. */
export const forgetOwnership = (folders: Folders, memberId: string, task: string): Promise<void> =>
  change(folders, (tasks) => tasks.filter((one) => !isOf(one, memberId, task)));

/** A member is on one board, so a number alone names one of its tasks. */
const isOf = ({ member_id, task_id, ref }: Owned, memberId: string, task: string): boolean =>
  member_id === memberId &&
  [task_id, ref, ref.split('-')[1]].includes(task.startsWith('tsk_') ? task : task.toUpperCase());

async function change(folders: Folders, changed: (tasks: Owned[]) => Owned[]): Promise<void> {
  const path = fileOf(folders);
  await withLock(`${path}.lock`, () => {
    const tasks = changed(read(folders).tasks).slice(-MOST);
    writePrivate(path, `${JSON.stringify({ v: 1, tasks })}\n`);
  });
}

const fileOf = (folders: Folders): string => join(folders.state, 'tasks.json');

function read(folders: Folders): Content {
  const text = readPrivate(fileOf(folders));
  return text === null ? { v: 1, tasks: [] } : parseOwn(fileOf(folders), text, isContent);
}

const isContent = (value: unknown): value is Content => Array.isArray((value as Partial<Content> | null)?.tasks);
