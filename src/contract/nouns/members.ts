/** The people and agents of a board: their records, leaving and removing. */
import { z } from 'zod';
import { byMember, byPerson, del, get, type OperationRow, orContradicts, post } from '../operation.ts';
import {
  boardName,
  deliveryMode,
  handle,
  id,
  memberName,
  nullsLeftOut,
  presence,
  queryBool,
  queryInt,
  roleName,
  serverRole,
  time,
} from '../schemas.ts';
import { visibility } from './boards.ts';
import { personParam } from './people.ts';
import { agentLine, agentLocation, agentState, agentUsage, agentWaiting, brake, budget } from './seats.ts';
import { taskRef } from './tasks.ts';

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

/** The person that an operation on a board's people is about. */
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
  braked: brake.optional(),
  /** For the agent's person. */
  budget: budget.optional(),
  /** For the agent's person. */
  waiting: agentWaiting.optional(),
  /** Of today, for the agent's person; left out where nothing was told. */
  usage: agentUsage.optional(),
});

export const ownAgentsQuery = z.object({ limit: queryInt(1, 500).default(500), after: id('mem').optional() });

export const ownAgents = z.strictObject({ agents: z.array(memberRecord), next_after: id('mem').nullable() });

export const memberList = z.strictObject({ members: z.array(memberRecord), next_after: id('mem').nullable() });

/** A seat that has ended. Names are null to an admin who is not on its private board. */
export const agentSeat = z.strictObject({
  id: id('mem'),
  board: boardName.nullable(),
  board_id: id('brd'),
  name: memberName.nullable(),
  owner: handle,
  owner_id: id('hum'),
  status: z.enum(['left', 'removed']),
  removed_at: time,
  removed_by: z.enum(['person', 'board_owner', 'admin', 'self']),
});

/** The ended seat of an agent, or the former membership of a person. */
export const removedMember = z.union([agentSeat, boardPerson]);

export const pruneBody = z
  .strictObject({
    /** Seconds. */
    disconnected_for: z.int().min(3600).max(3_153_600_000),
    all: z.boolean().default(false),
    dry_run: z.boolean().default(false),
    agents: z.array(id('mem')).min(1).max(500).optional(),
  })
  .register(nullsLeftOut);

export const prunedAgent = z.strictObject({
  id: id('mem'),
  name: memberName.nullable(),
  board: boardName.nullable(),
  board_id: id('brd'),
  owner: handle,
  owner_id: id('hum'),
  disconnected_since: time,
});

export const pruning = z.strictObject({
  disconnected_for: z.int(),
  all: z.boolean(),
  dry_run: z.boolean(),
  agents: z.array(prunedAgent),
  kept: z.array(id('mem')),
  /** A dry run lists no more than one call can remove. */
  more: z.literal(true).optional(),
});

export const about = 'The people and agents of a board, leaving and removing.';

export const operations = {
  leaveBoard: {
    ...post('/v1/boards/{board}/leave', byPerson, "Leave a board; the caller's agents there end with it"),
    errors: ['not_on_board', 'last_owner'],
    answer: boardPerson,
  },
  listBoardPeople: {
    ...get('/v1/boards/{board}/people', byMember, 'List the people on a board'),
    query: pageOfMembersQuery,
    answer: boardPeople,
  },
  addBoardPerson: {
    ...post('/v1/boards/{board}/people', byMember, 'Add a person to a board, or join an open one'),
    ok: [201],
    archived: 'refused',
    guests: { cannot: 'add people' },
    body: handleBody,
    errors: [
      'not_on_board',
      'add_people_not_allowed',
      'agent_session_required',
      'person_not_found',
      'already_on_board',
      'person_is_guest',
      'limit_reached',
    ],
    answer: boardPerson,
  },
  makeBoardOwner: {
    ...post('/v1/boards/{board}/owners', byPerson, 'Make a person on a board an owner'),
    archived: 'refused',
    guests: { cannot: 'make owners' },
    body: handleBody,
    errors: ['owner_required', 'not_on_board', 'person_not_on_board', 'person_is_guest'],
    answer: boardPerson,
  },
  unmakeBoardOwner: {
    ...del('/v1/boards/{board}/owners/{handle}', byPerson, 'Make an owner of a board a member'),
    guests: { cannot: 'change who owns a board' },
    errors: ['owner_required', 'not_on_board', 'person_not_on_board', 'last_owner'],
    answer: boardPerson,
  },
  removeBoardPerson: {
    ...del(
      '/v1/boards/{board}/people/{handle}',
      byPerson,
      'Take a person off a board, as its owner, or leave it oneself',
    ),
    params: personParam,
    errors: ['owner_required', 'not_on_board', 'person_not_on_board', 'last_owner'],
    answer: boardPerson,
  },
  listMembers: {
    ...get('/v1/boards/{board}/members', byMember, 'List people and agents on a board'),
    query: listMembersQuery,
    errors: ['not_on_board'],
    answer: memberList,
  },
  getMember: {
    ...get('/v1/boards/{board}/members/{member}', byMember, 'Read one member of a board'),
    errors: ['not_on_board', 'member_not_found'],
    answer: memberRecord,
  },
  removeMember: {
    ...del('/v1/boards/{board}/members/{member}', byPerson, 'End an agent on a board, or take a person off it'),
    errors: ['owner_required', 'not_on_board', 'agent_not_found', 'last_owner'],
    answer: removedMember,
  },
  leaveSeat: {
    ...post('/v1/me/leave', ['AG'], "Leave the agent's own seat for good"),
    answer: agentSeat,
  },
  pruneAgents: {
    ...post('/v1/agents/prune', byPerson, 'End agents that no session has been connected to for long'),
    body: pruneBody,
    errors: ['server_admin_required'],
    statuses: orContradicts,
    answer: pruning,
  },
  listMyAgents: {
    ...get('/v1/me/agents', byMember, "List the agents of the caller's person"),
    query: ownAgentsQuery,
    answer: ownAgents,
  },
} as const satisfies Record<string, OperationRow>;
