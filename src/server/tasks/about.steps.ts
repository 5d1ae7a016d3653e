/** What a message is about: decided once, when it is posted. */
import type { Message } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import { requireTask } from './find.steps.ts';
import { referencesIn } from './references.rules.ts';
import { tagsOf } from './tags.store.ts';
import { tasksWithIds, tasksWithRefs } from './tasks.store.ts';

/** A task with the reason why the message is about it. */
export type About = Message['about'][number];

const MAX_TASKS = 8;

interface Told {
  boardId: string;
  sender: MemberRow;
  /** Selectors; an empty list says that it is about nothing. */
  given: string[] | undefined;
  parentId: string | undefined;
  /** After redaction. */
  text: string;
}

/**
 * The tasks that were given; else what the message replied to is about; else the agent's current task. Then those the
 * text names, as far as there is room. @throws Refusal `task_not_found` for one that was given.
 */
export async function aboutOf(tx: WriteTx, told: Told): Promise<About[]> {
  const about = new Map<string, About>();
  for (const entry of await basis(tx, told)) if (!about.has(entry.id)) about.set(entry.id, entry);
  const refs = referencesIn(told.text);
  const named = new Map((await tasksWithRefs(tx, told.boardId, refs)).map((task) => [task.ref, task]));
  for (const ref of refs) {
    const task = named.get(ref);
    if (task && about.size < MAX_TASKS && !about.has(task.id)) about.set(task.id, { how: 'named', id: task.id, ref });
  }
  return [...about.values()];
}

async function basis(tx: WriteTx, { boardId, sender, given, parentId }: Told): Promise<About[]> {
  if (given) {
    const tasks: About[] = [];
    for (const selector of given) {
      const { id, ref } = await requireTask(tx, boardId, selector);
      tasks.push({ how: 'given', id, ref });
    }
    return tasks;
  }
  const tags = parentId === undefined ? [] : await tagsOf(tx, [parentId]);
  if (tags.length > 0) return tags.map(({ task_id, ref }) => ({ how: 'thread', id: task_id, ref }));
  const [current] = await tasksWithIds(tx, sender.current_task_id === null ? [] : [sender.current_task_id]);
  return current ? [{ how: 'current', id: current.id, ref: current.ref }] : [];
}
