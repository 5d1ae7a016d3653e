/** Tasks. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { lineFiles, lineOverlap } from '../line-files.ts';
import { byMember, get, type OperationRow, patch, post } from '../operation.ts';
import { actor, boardName, id, memberName, oneLine, queryBool, queryInt, text, time } from '../schemas.ts';

export const taskSelector = z.string().regex(patterns.task, 'must be a task such as CHK-17, 17 or tsk_…');

export const taskRef = z.strictObject({ id: id('tsk'), ref: z.string(), title: z.string() });

export const taskText = z.strictObject({
  text: z.string(),
  by: actor,
  at: time,
  version: z.int().min(1),
  messages_since: z.int().min(0).optional(),
});

export const taskState = z.enum(['open', 'in_progress', 'done', 'cancelled']);

export const task = z.strictObject({
  id: id('tsk'),
  ref: z.string(),
  number: z.int().min(1),
  board: boardName,
  title: z.string(),
  about: taskText.nullable(),
  stands: taskText.nullable(),
  state: taskState,
  owner: actor.nullable(),
  ownership: z
    .string()
    .optional()
    .describe('For its owner only: sent with a change, it is refused when the task has another owner meanwhile.'),
  stale_since: time.optional().describe('Since when its owner, an agent, has been away for too long.'),
  with: z.array(actor),
  blocked: z.boolean(),
  blocked_count: z.int().min(0),
  blocked_on: z.array(
    z.strictObject({ ask_id: id('msg'), ask_seq: z.int().min(1), to: actor, from: actor, since: time }),
  ),
  needs_you: z.boolean(),
  opened_by: actor,
  opened_at: time,
  updated_at: time,
  closed_at: time.nullable(),
  closed_note: z.string().nullable(),
  message_count: z.int().min(0),
  thread_count: z.int().min(0),
});

const visible = (value: string): boolean => /\S/u.test(value);
const title = text(4_000)
  .transform((value) => value.trim())
  .pipe(oneLine(120, 1))
  .meta({ minLength: 1, maxLength: 120 });
const stands = text(2_000, 1).refine(visible, 'must hold something other than white space');

/** As the answer to a start gave it. A change with that of a former owner is refused. */
const ownership = z.string().max(64).optional();

export const createTaskBody = z.strictObject({
  title,
  about: text(4_000).optional(),
  start: z.boolean().default(false),
});

export const updateTaskBody = z
  .strictObject({
    title: title.optional(),
    about: text(4_000).optional(),
    stands: stands.optional(),
    stands_base: z.int().min(0).optional(),
    ownership,
  })
  .refine(
    (body) => body.title !== undefined || body.about !== undefined || body.stands !== undefined,
    'needs title, about or stands',
  )
  .refine((body) => body.stands_base === undefined || body.stands !== undefined, {
    message: 'goes with stands',
    path: ['stands_base'],
  });

export const startTaskBody = z.strictObject({
  take_over: z.boolean().default(false).describe('Also from an owner that left it; of people who may, from any owner.'),
  /** Of an agent, whose line says them. */
  ...lineFiles,
});

/** With `overlaps` of a start that says files. */
export const startedTask = task.extend({ overlaps: z.array(lineOverlap).optional() });

export const finishTaskBody = z.strictObject({ note: stands, cancelled: z.boolean().default(false), ownership });

export const dropTaskBody = z.strictObject({
  member: z.string().max(64).optional(),
  reason: text(500).optional(),
  ownership,
});

const listQuery = {
  state: z.enum(['active', 'open', 'in_progress', 'done', 'cancelled', 'all']).default('active'),
  owner: memberName.optional(),
  mine: queryBool.default(false),
  blocked: queryBool.default(false),
  order: z.enum(['asc', 'desc']).default('asc'),
  limit: queryInt(1, 200).default(50),
  after: z.string().max(400).optional(),
};

export const listTasksQuery = z.object(listQuery);
/** A name no board can have is answered like a missing one. */
export const listAllTasksQuery = z.object({ ...listQuery, board: z.string().max(80).optional() });

const counts = z.strictObject({
  open: z.int().min(0),
  in_progress: z.int().min(0),
  done: z.int().min(0),
  cancelled: z.int().min(0),
  blocked: z.int().min(0),
});

export const allTaskList = z.strictObject({ tasks: z.array(task), counts, next_after: z.string().nullable() });
export const taskList = allTaskList.extend({ board: boardName });

export const listTaskTextsQuery = z.object({
  field: z.enum(['stands', 'about']).default('stands'),
  limit: queryInt(1, 200).default(50),
  after: z.string().max(400).optional(),
});

export const taskTexts = z.strictObject({
  task: taskRef,
  field: z.enum(['stands', 'about']),
  versions: z.array(taskText),
  next_after: z.string().nullable(),
});

const taskParam = z.object({ task: taskSelector });

/** Of what changes a task. */
const ofTask = { archived: 'refused', rates: ['task_and_file_writes'], params: taskParam, answer: task } as const;

export const about = 'Tasks of a board.';

export const operations = {
  listTasks: {
    ...get('/v1/boards/{board}/tasks', byMember, 'List the tasks of a board'),
    query: listTasksQuery,
    errors: ['not_on_board', 'member_not_found'],
    answer: taskList,
  },
  listAllTasks: {
    ...get('/v1/tasks', byMember, 'List tasks of all boards the caller is on'),
    query: listAllTasksQuery,
    errors: ['not_on_board', 'member_not_found'],
    answer: allTaskList,
  },
  createTask: {
    ...post('/v1/boards/{board}/tasks', byMember, 'Open a task'),
    ok: [201],
    archived: 'refused',
    rates: ['task_and_file_writes'],
    body: createTaskBody,
    errors: ['not_on_board', 'task_prefix_taken'],
    answer: task,
  },
  getTask: {
    ...get('/v1/boards/{board}/tasks/{task}', byMember, 'Read one task'),
    params: taskParam,
    errors: ['not_on_board', 'task_not_found'],
    answer: task,
  },
  listTaskTexts: {
    ...get('/v1/boards/{board}/tasks/{task}/texts', byMember, 'Read the versions of what a task says'),
    params: taskParam,
    query: listTaskTextsQuery,
    errors: ['not_on_board', 'task_not_found'],
    answer: taskTexts,
  },
  updateTask: {
    ...patch('/v1/boards/{board}/tasks/{task}', byMember, 'Change title, about or where a task stands'),
    ...ofTask,
    body: updateTaskBody,
    errors: ['not_on_board', 'not_on_task', 'task_not_found', 'task_closed', 'task_taken', 'stands_changed'],
  },
  startTask: {
    ...post('/v1/boards/{board}/tasks/{task}/start', byMember, 'Take a task; of any number at once one wins'),
    ...ofTask,
    body: startTaskBody,
    errors: ['not_on_board', 'task_not_found', 'task_taken', 'task_closed'],
    answer: startedTask,
  },
  joinTask: {
    ...post('/v1/boards/{board}/tasks/{task}/join', byMember, 'Help with a task'),
    ...ofTask,
    errors: ['not_on_board', 'task_not_found', 'task_closed'],
  },
  finishTask: {
    ...post('/v1/boards/{board}/tasks/{task}/done', byMember, 'Close a task as done or cancelled'),
    ...ofTask,
    body: finishTaskBody,
    errors: ['not_on_board', 'not_on_task', 'task_not_found', 'task_closed', 'task_taken'],
  },
  dropTask: {
    ...post('/v1/boards/{board}/tasks/{task}/drop', byMember, 'Give up a part in a task'),
    ...ofTask,
    body: dropTaskBody,
    errors: ['not_on_board', 'not_on_task', 'member_not_found', 'task_not_found', 'task_closed', 'task_taken'],
  },
} as const satisfies Record<string, OperationRow>;
