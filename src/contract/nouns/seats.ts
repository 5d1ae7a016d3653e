/** What a seat reports of itself, and how messages reach it. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { byPerson, get, type OperationRow, post, put } from '../operation.ts';
import {
  boardName,
  deliveryMode,
  id,
  memberName,
  nullsLeftOut,
  oneLine,
  presence,
  sentTime,
  text,
  time,
} from '../schemas.ts';
import { budgetTimes } from '../values.ts';
import { taskRef } from './tasks.ts';

export const agentState = z.enum(['waiting', 'paused', 'late', 'braked', 'disconnected', 'working', 'idle']);

export const brake = z
  .strictObject({ until: time, reason: z.enum(['wakes', 'cost', 'reads', 'person']) })
  .describe(
    "Until when agents' messages do not wake it. `wakes`, `cost`: its budget is used up; `reads`: it acknowledges nothing of what it reads; `person`: its person said so.",
  );

const budgetSeconds = z.int().min(budgetTimes.least).max(budgetTimes.most);
const wakeLimit = z.strictObject({ count: z.int().min(1).max(100_000), seconds: budgetSeconds });
const wakeLimits = z.union([z.literal('off'), z.array(wakeLimit).min(1).max(budgetTimes.wakes)]);
const costLimit = z.strictObject({
  usd: z.number().positive().max(1_000_000),
  seconds: budgetSeconds,
});

/** How often agents' messages may wake an agent, and what it may cost; null: no limit of cost. */
export const budget = z.strictObject({ wakes: wakeLimits, cost: costLimit.nullable() });

/** Left-out parts stay; null sets the usual. */
export const setBudgetBody = z
  .strictObject({ wakes: wakeLimits.nullable().optional(), cost: costLimit.nullable().optional() })
  .refine((body) => Object.keys(body).length > 0, 'must change something');

export const releaseBody = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('more') }),
  z.strictObject({ action: z.literal('pause'), until: sentTime }),
]);

export const agentBudget = z.strictObject({
  board: boardName,
  agent: memberName,
  member_id: id('mem'),
  budget,
  braked: brake.nullable(),
});

const waitingFor = z.enum(['permission', 'question']);

const waiting = z.strictObject({
  for: waitingFor,
  /** As far as the program tells it. Secrets are taken out of it, and its first 500 characters are kept. */
  question: text(2_000, 1).optional(),
  /** Where it can be answered, such as a pane of tmux. Secrets are taken out of it. */
  where: text(200, 1).optional(),
});

/** What a session waits for its person with; only the agent's person is shown it. */
export const agentWaiting = z.strictObject({
  /** Left out where its program does not tell. */
  for: waitingFor.optional(),
  question: z.string().optional(),
  where: z.string().optional(),
  since: time,
});

const tokens = z.int().min(0).max(1_000_000_000_000);

/** What was used since the last report. What the program does not tell is left out: it is not known, and is no zero. */
export const reportUsageBody = z
  .strictObject({
    turns: z.int().min(0).max(1_000_000),
    input_tokens: tokens.optional(),
    output_tokens: tokens.optional(),
    cost_usd: z.number().min(0).max(1_000_000).optional(),
  })
  .register(nullsLeftOut);

/** What an agent used since a day began, in UTC; a field that no report told is left out. */
export const agentUsage = z.strictObject({
  turns: z.int().min(0),
  input_tokens: z.int().min(0).optional(),
  output_tokens: z.int().min(0).optional(),
  cost_usd: z.number().min(0).optional(),
  since: time,
});

export const setPresenceBody = z
  .strictObject({
    presence,
    /** Belongs to the presence `waiting`, and is ignored with any other. */
    waiting: waiting.optional(),
    /** `auto` is what `all` was called once. */
    delivery: z.union([deliveryMode, z.literal('auto').transform(() => 'all' as const)]).optional(),
  })
  .register(nullsLeftOut);

export const presenceReport = z.strictObject({
  board: boardName,
  agent: memberName,
  member_id: id('mem'),
  presence,
  presence_since: time,
});

export const setLocationBody = z.strictObject({
  harness: oneLine(40, 1),
  session_id: text(512, 1),
  folder: text(4_096, 1),
});

export const agentLocation = z.strictObject({
  machine: z.string().optional(),
  harness: z.string(),
  session_id: z.string(),
  folder: z.string(),
  last_active: time,
});

const count = z.int().min(0);
const session = z.string().regex(patterns.session, 'must be written <harness>:<id>');
const boot = text(64, 1);
const queued = z.strictObject({ message_id: id('msg'), seq: z.int().min(1) });

/** A reporter acquires the fence, or reports the queue while it holds it. */
export const reportQueueBody = z.union([
  z.strictObject({ session, boot, expected_epoch: count }),
  z.strictObject({
    session,
    boot,
    epoch: z.int().min(1),
    revision: z.int().min(1),
    messages: z.array(queued).max(1_000),
  }),
]);

const queueFence = {
  board_id: id('brd'),
  member_id: id('mem'),
  epoch: count,
  revision: count,
  /** Absent if there is no current report. */
  expires_at: time.optional(),
};
export const queueReported = z.strictObject(queueFence);
export const deliveryQueue = z.strictObject({ ...queueFence, messages: z.array(queued) });

export const setModeBody = z.strictObject({ mode: deliveryMode });

export const modeSet = z.strictObject({
  board: boardName,
  agent: memberName,
  mode: deliveryMode,
  revision: z.int().min(0),
  changed: z.boolean(),
});

export const agentLine = z.strictObject({
  kind: z.enum(['working', 'paused']),
  text: z.string(),
  until: time.nullable(),
  task: taskRef.nullable(),
  set_by: memberName,
  source: z.enum(['command', 'task', 'plan']),
  at: time,
  /** Globs of the files it is about, in this repository. */
  paths: z.array(z.string()).optional(),
  repo: z.string().nullable().optional(),
});

export const about = 'What an agent reports of itself, and how messages reach it.';

export const operations = {
  setDeliveryMode: {
    ...put('/v1/boards/{board}/members/{member}/delivery', byPerson, 'Set how messages reach an agent'),
    body: setModeBody,
    errors: ['agent_owner_required', 'not_on_board', 'agent_not_found'],
    answer: modeSet,
  },
  setAgentBudget: {
    ...put(
      '/v1/boards/{board}/members/{member}/budget',
      byPerson,
      'Set how often agents may wake an own agent, and its cost',
    ),
    body: setBudgetBody,
    errors: ['agent_owner_required', 'not_on_board', 'agent_not_found'],
    answer: agentBudget,
  },
  releaseAgent: {
    ...post(
      '/v1/boards/{board}/members/{member}/release',
      byPerson,
      'Let agents wake an own agent again, or not until later',
    ),
    body: releaseBody,
    errors: ['agent_owner_required', 'not_on_board', 'agent_not_found'],
    answer: agentBudget,
  },
  setPresence: {
    ...put('/v1/me/presence', ['AG'], 'Report whether somebody is behind a seat'),
    idempotency: 'N',
    rates: ['presence'],
    body: setPresenceBody,
    answer: presenceReport,
  },
  setLocation: {
    ...put('/v1/me/location', ['AG'], "Report where a seat's session runs"),
    idempotency: 'N',
    body: setLocationBody,
    answer: agentLocation,
  },
  reportUsage: {
    ...put('/v1/me/usage', ['AG'], "Report what the agent's program used since the last report"),
    body: reportUsageBody,
    answer: agentUsage,
  },
  getDeliveryQueue: {
    ...get('/v1/me/delivery-queue', ['AG'], "What waits in the queue of an agent's own program"),
    answer: deliveryQueue,
  },
  reportDeliveryQueue: {
    ...put('/v1/me/delivery-queue', ['AG'], "Report what waits in the queue of an agent's own program"),
    idempotency: 'N',
    body: reportQueueBody,
    errors: ['queue_report_conflict'],
    answer: queueReported,
  },
} as const satisfies Record<string, OperationRow>;
