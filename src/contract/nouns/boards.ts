/** Boards, templates, people and members of a board, joining. */
import { z } from 'zod';
import { byMember, byPerson, get, type OperationRow, orContradicts, patch, post } from '../operation.ts';
import {
  actor,
  boardName,
  eventActor,
  handle,
  id,
  nullsLeftOut,
  queryBool,
  queryInt,
  roleName,
  seq,
  text,
  time,
} from '../schemas.ts';
import { lifecycles, permissions } from '../values.ts';
import { brief } from './files.ts';

export const permission = z.enum(permissions);
export const grant = z.union([permission, z.strictObject({ claim_tasks: z.array(z.string()).min(1).max(20) })]);
/** Counted with its lines ended in one way. */
const charter = (max: number) =>
  z
    .string()
    .overwrite((value) => value.replaceAll('\r\n', '\n'))
    .pipe(text(max))
    .meta({ maxLength: max });

export const role = z.strictObject({ charter: charter(4000).optional(), can: z.array(grant).max(10) });
export const roles = z.record(roleName, role);
export const preset = z.enum(['starter', 'recommended']);
export const policyKey = z.enum([
  'visibility',
  'broadcast',
  'urgent',
  'show_harness',
  'nudges',
  'agent_run',
  'stale_after',
]);

/** After how many messages in a row agents in a thread are told so, and after how many nobody is woken any more. */
const runLimits = z.strictObject({ notice: z.int().min(1).max(1_000), hold: z.int().min(1).max(1_000) });
const off = z.literal('off');

export const policy = z.strictObject({
  preset,
  visibility: z.enum(['open', 'addressed']),
  broadcast: z.enum(['everyone', 'granted']),
  urgent: z.enum(['everyone', 'granted']),
  show_harness: z.boolean(),
  nudges: z.enum(['on', 'off']),
  agent_run: z.union([off, runLimits]),
  stale_after: z
    .union([off, z.int().min(300).max(604_800)])
    .describe('For how many seconds an agent that owns a task is away before others may take it over.'),
  overrides: z.array(policyKey),
});

/** Left-out keys stay, or go back to the preset that is given. */
export const policyChange = policy
  .omit({ overrides: true })
  .partial()
  .refine((change) => Object.values(change).some((value) => value !== undefined), 'must change something');

export const visibility = z.enum(['open', 'private']);

export const board = z.strictObject({
  id: id('brd'),
  name: boardName,
  title: z.string().nullable(),
  visibility,
  lifecycle: z.enum(lifecycles),
  on_board: z.boolean(),
  template: z.string().nullable(),
  charter: z.string(),
  roles,
  policy,
  agents_add_people: z.boolean(),
  head_seq: seq,
  message_count: z.int().nullable(),
  last_message_at: time.nullable(),
  created_at: time,
  created_by: actor,
  can_archive: z.boolean(),
  can_restore: z.boolean(),
  can_delete: z.boolean(),
  people_count: z.int().min(0),
  agent_count: z.int().min(0).optional(),
  read_up_to: seq.optional(),
  unread: z.int().min(0).optional(),
  needs_reply: z.int().min(0).nullable().optional(),
  task_prefix: z.string().nullable(),
  task_prefixes: z.array(z.string()).optional(),
  tasks_open: z.int().min(0).optional(),
  asks_to_me: z.strictObject({ blocking: z.int().min(0), going_with: z.int().min(0) }).optional(),
  brief: brief.nullable().optional(),
  activity: z.array(z.int().min(0)).max(30).optional(),
  added: z.strictObject({ seq, at: time, by: eventActor }).optional(),
});

export const hiddenBoard = z.strictObject({
  id: id('brd'),
  visibility: z.literal('private'),
  lifecycle: z.enum(lifecycles),
  created_at: time,
  created_by: z.strictObject({ id: id('hum'), handle }),
  people: z.int().min(0),
  can_archive: z.boolean(),
  can_restore: z.boolean(),
  can_delete: z.boolean(),
});

export const setVisibilityBody = z
  .strictObject({ visibility, dry_run: z.boolean().default(false) })
  .register(nullsLeftOut);

export const visibilityChange = z.strictObject({
  board: boardName,
  before: visibility,
  after: visibility,
  changed: z.boolean(),
  dry_run: z.boolean(),
  reveals: z.strictObject({ messages: z.int().min(0), files: z.int().min(0) }).nullable(),
  join_codes_canceled: z.int().min(0),
  agents_add_people: z.boolean(),
});

export const lifecycleReceipt = z.strictObject({
  id: id('brd'),
  lifecycle: z.enum(['active', 'archived', 'deleted']),
  changed: z.boolean(),
});

/** Counted after trimming; empty: none. */
const title = z.string().trim().pipe(text(80)).meta({ maxLength: 80 });

export const updateBoardBody = z
  .strictObject({
    title: title.optional(),
    charter: charter(8000).optional(),
    roles: roles.optional(),
    policy: policyChange.optional(),
    agents_add_people: z.boolean().optional(),
    /** An invalid prefix is refused with its own error code. */
    task_prefix: z.string().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something')
  .register(nullsLeftOut);

export const createBoardBody = z
  .strictObject({
    name: boardName.optional(),
    title: title.optional(),
    template: z.string().max(80).optional(),
    charter: charter(8000).optional(),
    preset: preset.optional(),
    visibility: visibility.default('open'),
  })
  .register(nullsLeftOut);

export const listBoardsQuery = z.object({
  all: queryBool.default(false),
  lifecycle: z.enum(['active', 'archived', 'all']).default('active'),
  limit: queryInt(1, 500).default(500),
  after: boardName.optional(),
  hidden_after: id('brd').optional(),
  /** The number of days for which the list gives message counts. */
  activity: queryInt(0, 30).default(0),
});

export const boardList = z.strictObject({
  boards: z.array(board),
  archived_count: z.int().min(0),
  hidden_boards: z.array(hiddenBoard).optional(),
  next_after: boardName.nullable(),
  next_hidden_after: id('brd').nullable(),
});

export const templateList = z.strictObject({
  templates: z.array(
    z.strictObject({
      name: z.string(),
      summary: z.string(),
      charter: z.string(),
      roles,
      preset,
      pair: z.tuple([roleName, roleName]),
    }),
  ),
});

export const about = 'Boards, their settings and their life.';

export const operations = {
  createBoard: {
    ...post('/v1/boards', byPerson, 'Create a board; its creator becomes the first owner'),
    ok: [201],
    guests: { cannot: 'create boards' },
    rates: ['board_creation'],
    body: createBoardBody,
    errors: ['board_creation_restricted', 'board_name_taken', 'template_not_found'],
    statuses: orContradicts,
    answer: board,
  },
  listBoards: {
    ...get('/v1/boards', [...byMember, 'DG'], 'List boards with read position and unread count'),
    query: listBoardsQuery,
    answer: boardList,
  },
  getBoard: {
    ...get('/v1/boards/{board}', byMember, 'Read one board'),
    answer: board,
  },
  updateBoard: {
    ...patch('/v1/boards/{board}', byMember, "Change a board's title, charter, roles, policy or task prefix"),
    archived: 'partly',
    guests: { cannot: "change a board's settings" },
    body: updateBoardBody,
    errors: [
      'human_token_required',
      'admin_required',
      'owner_required',
      'not_on_board',
      'role_in_use',
      'task_prefix_taken',
      'task_prefix_invalid',
    ],
    statuses: orContradicts,
    answer: board,
  },
  archiveBoard: {
    ...post('/v1/boards/{board}/archive', byMember, 'Archive a board: it stays readable'),
    guests: { cannot: 'archive boards' },
    errors: ['board_creator_required'],
    answer: lifecycleReceipt,
  },
  restoreBoard: {
    ...post('/v1/boards/{board}/restore', byMember, 'Make an archived board active again'),
    guests: { cannot: 'restore boards' },
    errors: ['board_creator_required'],
    answer: lifecycleReceipt,
  },
  deleteBoard: {
    ...post('/v1/boards/{board}/delete', byPerson, 'End an archived board for good'),
    guests: { cannot: 'delete boards' },
    errors: ['board_creator_required', 'board_not_archived'],
    answer: lifecycleReceipt,
  },
  setBoardVisibility: {
    ...post('/v1/boards/{board}/visibility', byPerson, 'Turn a board open or private, or look at what that would do'),
    archived: 'partly',
    guests: { cannot: 'open or close boards' },
    body: setVisibilityBody,
    errors: ['owner_required', 'not_on_board'],
    answer: visibilityChange,
  },
  listTemplates: {
    ...get('/v1/templates', byMember, 'List the built-in board templates'),
    answer: templateList,
  },
} as const satisfies Record<string, OperationRow>;
