/** Boards, templates, people and members of a board, joining. */
import { z } from 'zod';
import { permissions } from '../permissions.ts';
import {
  actor,
  boardName,
  deliveryMode,
  eventActor,
  handle,
  id,
  memberName,
  nullsLeftOut,
  presence,
  queryBool,
  queryInt,
  roleName,
  seq,
  serverRole,
  text,
  time,
} from './common.ts';
import { brief } from './files.ts';
import { agentLine } from './lines.ts';
import { agentLocation, agentState } from './seats.ts';
import { taskRef } from './tasks.ts';

export const permission = z.enum(permissions);
export const grant = z.union([permission, z.strictObject({ claim_tasks: z.array(z.string()).min(1).max(20) })]);
export const role = z.strictObject({ charter: text(4000).optional(), can: z.array(grant).max(10) });
export const roles = z.record(roleName, role);
export const preset = z.enum(['starter', 'recommended']);
export const policyKey = z.enum(['visibility', 'broadcast', 'urgent', 'show_harness', 'nudges']);

export const policy = z.strictObject({
  preset,
  visibility: z.enum(['open', 'addressed']),
  broadcast: z.enum(['everyone', 'granted']),
  urgent: z.enum(['everyone', 'granted']),
  show_harness: z.boolean(),
  nudges: z.enum(['on', 'off']),
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
  lifecycle: z.enum(['active', 'archived']),
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
  lifecycle: z.enum(['active', 'archived']),
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
const title = z.string().trim().pipe(text(80));

export const updateBoardBody = z
  .strictObject({
    title: title.optional(),
    charter: text(8000).optional(),
    roles: roles.optional(),
    policy: policyChange.optional(),
    agents_add_people: z.boolean().optional(),
    /** What is no prefix is refused with its own code. */
    task_prefix: z.string().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something')
  .register(nullsLeftOut);

export const createBoardBody = z
  .strictObject({
    name: boardName.optional(),
    title: title.optional(),
    template: z.string().max(80).optional(),
    charter: text(8000).optional(),
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
  /** For how many days the list tells how many messages each had. */
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

export const boardPerson = z.strictObject({
  id: id('hum'),
  handle,
  display_name: z.string().nullable(),
  board: boardName,
  name: memberName,
  member_id: id('mem'),
  board_role: z.enum(['owner', 'member']),
  server_role: serverRole,
  joined_at: time,
});

/** Whom an operation on a board's people is about. */
export const handleBody = z.strictObject({ handle });

export const pageOfMembersQuery = z.object({ limit: queryInt(1, 1000).default(1000), after: id('mem').optional() });

export const boardPeople = z.strictObject({
  board: boardName,
  visibility,
  people: z.array(boardPerson),
  next_after: id('mem').nullable(),
});

export const listMembersQuery = pageOfMembersQuery.extend({
  removed: queryBool.default(false),
  kind: z.enum(['human', 'agent']).optional(),
});

export const memberRecord = z.strictObject({
  id: id('mem'),
  board: boardName,
  board_id: id('brd'),
  name: memberName,
  kind: z.enum(['agent', 'human']),
  display_name: z.string().optional(),
  role: roleName.nullable(),
  owner: handle.nullable(),
  owner_id: id('hum').nullable(),
  harness: z.string().nullable(),
  access: z.enum(['admin', 'member']).nullable(),
  server_role: serverRole.nullable(),
  status: z.enum(['active', 'removed', 'left']),
  removed_at: time.optional(),
  removed_by: z.enum(['person', 'board_owner', 'admin', 'self']).optional(),
  can_remove: z.boolean().optional(),
  joined_at: time,
  presence: presence.nullable(),
  presence_since: time.nullable(),
  delivery: deliveryMode.nullable(),
  delivery_mode: deliveryMode.nullable(),
  delivery_revision: z.int().min(0).nullable(),
  line: agentLine.nullable(),
  state: agentState.nullable(),
  current_task: taskRef.nullable().optional(),
  location: agentLocation.optional(),
});

export const ownAgentsQuery = z.object({ limit: queryInt(1, 500).default(500), after: id('mem').optional() });
export const ownAgents = z.strictObject({ agents: z.array(memberRecord), next_after: id('mem').nullable() });

export const memberList = z.strictObject({ members: z.array(memberRecord), next_after: id('mem').nullable() });
