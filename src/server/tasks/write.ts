/** Opening tasks and writing what they say. */
import { Refusal } from '../../contract/errors.ts';
import type { Body } from '../../contract/types.ts';
import { actingOn } from '../access/acting.ts';
import type { Place } from '../access/board-access.ts';
import { type Acting, record, type Setting } from '../boards/acting.steps.ts';
import { prefixHolder } from '../boards/prefixes.store.ts';
import { setTaskPrefix } from '../boards/settings.steps.ts';
import type { WriteCase } from '../operation/usecase.ts';
import type { EventRow } from '../record/events.store.ts';
import { newId } from '../text/ids.ts';
import { redact } from '../text/redaction.ts';
import { taskView } from '../views/tasks/task.ts';
import { notOnTask, requireOwnership, standsChanged } from '../views/tasks/task-refusals.ts';
import { requireTask } from './find.steps.ts';
import { change, changedAt, isHelper, requireOpen, takeTask } from './parts.steps.ts';
import { defaultPrefixes } from './references.rules.ts';
import { insertTask, insertText, lastNumber, latestTexts, type TaskRow, type TextField } from './tasks.store.ts';

const clean = (text: string): string => redact(text).text;

export const createTask: WriteCase<'createTask'> = {
  prepare: (body) => ({
    ...body,
    title: clean(body.title),
    ...(body.about === undefined ? {} : { about: clean(body.about) }),
  }),

  async run(tx, caller, { params, body }) {
    const needs = body.start ? (['create_tasks', 'claim_tasks'] as const) : (['create_tasks'] as const);
    const { place, acting } = await actingOn(tx, caller, params.board, needs);
    const task = await open(acting, body.title, body.about || null);
    if (body.start) await takeTask(acting, task);
    return { answer: await taskView(tx, place, task) };
  },
};

async function open(acting: Acting, title: string, about: string | null): Promise<TaskRow> {
  const { tx, board, member } = acting;
  const prefix = await prefixOf(acting);
  const number = (await lastNumber(tx, board.id)) + 1;
  const task: TaskRow = {
    id: newId('tsk', tx.now),
    board_id: board.id,
    number,
    ref: `${prefix}-${number}`,
    title,
    state: 'open',
    owner_id: null,
    owner_seq: 0,
    owner_at: 0,
    opened_by: member.id,
    opened_at: tx.now,
    updated_at: tx.now,
    closed_at: null,
    closed_note: null,
    about_version: about === null ? 0 : 1,
    stands_version: 0,
  };
  const event = await record(acting, 'task.created', { task_id: task.id, ref: task.ref, number, title, about });
  task.opened_at = event.at;
  task.updated_at = event.at;
  await insertTask(tx, task);
  if (about !== null) await keepText(acting, task, 'about', about, event);
  return task;
}

/** The board's prefix; with its first task it gets one from its name. @throws Refusal `task_prefix_taken` when none is left. */
async function prefixOf(setting: Setting): Promise<string> {
  const { tx, board } = setting;
  if (board.task_prefix !== null) return board.task_prefix;
  for (const prefix of defaultPrefixes(board.name)) {
    if ((await prefixHolder(tx, prefix)) !== undefined) continue;
    await setTaskPrefix(setting, prefix);
    return prefix;
  }
  throw new Refusal('task_prefix_taken', 'Every prefix that could be made of the name of this board is taken.', {
    hint: 'A board owner can choose one: service board prefix PREFIX.',
  });
}

function keepText({ tx, member }: Acting, task: TaskRow, field: TextField, text: string, { seq, at }: EventRow) {
  const version = task[`${field}_version`];
  return insertText(tx, { task_id: task.id, field, version, text, by_id: member.id, at, seq });
}

export const updateTask: WriteCase<'updateTask'> = {
  prepare: (body) => ({
    ...body,
    ...(body.title === undefined ? {} : { title: clean(body.title) }),
    ...(body.about === undefined ? {} : { about: clean(body.about) }),
    ...(body.stands === undefined ? {} : { stands: clean(body.stands) }),
  }),

  async run(tx, caller, { params, body }) {
    const { place, acting } = await actingOn(tx, caller, params.board);
    const task = await requireTask(tx, place.board.id, params.task);
    requireOpen(task);
    await requireOwnership(tx, place, task, body.ownership);
    await requirePart(acting, place, task, body);
    if (body.stands_base !== undefined && body.stands_base !== task.stands_version)
      throw await standsChanged(tx, place, task);
    await write(acting, task, body);
    return { answer: await taskView(tx, place, task) };
  },
};

type Update = Body<'updateTask'>;

/** Agents write title and about as opener or owner, where it stands as owner or helper; people write all. */
async function requirePart({ tx, member }: Acting, place: Place, task: TaskRow, body: Update): Promise<void> {
  if (member.kind === 'human') return;
  const owns = task.owner_id === member.id;
  const described = body.title !== undefined || body.about !== undefined;
  if (described && !owns && task.opened_by !== member.id) throw await notOnTask(tx, place, task, 'describe');
  if (body.stands !== undefined && !owns && !(await isHelper(tx, task, member.id)))
    throw await notOnTask(tx, place, task, 'write');
}

/** One event with what changed; nothing where nothing did. */
async function write(acting: Acting, task: TaskRow, body: Update): Promise<void> {
  const { tx } = acting;
  const { about, stands } = (await latestTexts(tx, [task.id])).get(task.id) ?? {};
  const changed = {
    ...(body.title !== undefined && body.title !== task.title ? { title: body.title } : {}),
    ...(body.about !== undefined && body.about !== about?.text ? { about: body.about } : {}),
    ...(body.stands !== undefined && body.stands !== stands?.text
      ? { stands: body.stands, stands_version: task.stands_version + 1 }
      : {}),
  };
  if (Object.keys(changed).length === 0) return;
  const event = await record(acting, 'task.updated', { task_id: task.id, ref: task.ref, ...changed });
  await change(tx, task, {
    ...(await changedAt(acting, task, event.at)),
    ...(changed.title === undefined ? {} : { title: changed.title }),
    ...(changed.about === undefined ? {} : { about_version: task.about_version + 1 }),
    ...(changed.stands === undefined ? {} : { stands_version: task.stands_version + 1 }),
  });
  // Lines about the task show its title.
  if (changed.title !== undefined) tx.publish(`presence:${task.board_id}`);
  if (changed.about !== undefined) await keepText(acting, task, 'about', changed.about, event);
  if (changed.stands !== undefined) await keepText(acting, task, 'stands', changed.stands, event);
}
