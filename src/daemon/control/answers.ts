/** What the daemon answers to each verb that answers once. Fields that are empty, zero or false are not on the wire. */
import { z } from 'zod';
import { deliveryMode, id, seq } from '../../contract/nouns/common.ts';
import { agentRef, boot, carry, type ErrorFrame, seatProblem, seatView } from '../protocol.ts';

const count = z.int().min(0).default(0);
const flag = z.boolean().default(false);
const seats = z.array(seatView).default([]);
const seqs = z.array(seq).default([]);
/** A record of the API, passed on as it came. */
const record = z.record(z.string(), z.unknown());
const nothing = z.object({});

/** A handoff of a seat that did not go as it should, and why. */
const troubled = z.array(z.object({ handoff_id: z.string(), agent: agentRef, seqs, reason: z.string().default('') }));

const metrics = z.record(z.string(), z.number()).default({});

const statusAnswer = z.object({
  pid: z.int(),
  build: z.object({ version: z.string(), commit: z.string().optional(), commit_time: z.string().optional() }),
  protocol: z.literal(1),
  started_at: z.string(),
  instance: z.string(),
  open_sessions: count,
  servers: z
    .array(
      z.object({
        url: z.string(),
        server_id: z.string().nullish(),
        feed: z.enum(['stream', 'poll', 'none']),
        connected: flag,
        since: z.string().nullish(),
        last_error: z.string().nullish(),
      }),
    )
    .default([]),
  sessions: z
    .array(
      z.object({
        key: z.string(),
        open: flag,
        turn: z.enum(['idle', 'busy', 'unknown']),
        turned: flag,
        boot: z.string(),
        capabilities: z.array(z.string()).default([]),
        seats: z.array(agentRef).default([]),
      }),
    )
    .default([]),
  attention: troubled.default([]),
  stalled: troubled.default([]),
  truncated: z.array(z.object({ handoff_id: z.string(), agent: agentRef, seq })).default([]),
  agents: z
    .array(z.object({ agent: agentRef, problem: seatProblem.nullish(), since: z.string().nullish() }))
    .default([]),
  bindings: z.array(z.object({ agent: agentRef, session: z.string(), open: flag, turned: flag })).default([]),
  metrics,
});

const joined = z.object({
  joined: flag,
  board: record,
  member: record,
  mode: deliveryMode.optional(),
  previous: agentRef.optional(),
  seats,
  reused: flag,
  /** The role of whoever comes next, where a pair was asked for. */
  pair_role: z.string().optional(),
});

/** One per verb of `requests`. */
export const answers = {
  register: z.object({
    boot,
    seats,
    reopened: flag,
    lost: z.array(agentRef).default([]),
    note: z.string().optional(),
    nudge: z.string().optional(),
    turn_id: count,
  }),
  prompt: nothing,
  turn_start: carry,
  boundary: carry,
  turn_end: carry,
  needs_person: nothing,
  plan: nothing,
  end: nothing,
  bind: z.object({ seats, previous: agentRef.optional(), mode: deliveryMode }),
  unbind: z.object({ seats }),
  agents: z.object({
    seats,
    boot,
    turn: z.enum(['idle', 'busy', 'unknown']),
    capabilities: z.array(z.string()).optional(),
  }),
  boards: z.object({
    server: z.string(),
    boards: z.array(record).default([]),
    archived_count: z.int().optional(),
    next_after: z.string().nullish(),
  }),
  join: joined,
  create_board: joined,
  mode: z.object({ mode: deliveryMode, revision: count, changed: flag }),
  queued: z.object({
    queued: z
      .array(
        z.object({
          server: z.string(),
          board_id: id('brd'),
          member_id: id('mem'),
          board: z.string().optional(),
          message_id: id('msg'),
          seq,
          boundary: z.literal('turn_end'),
        }),
      )
      .default([]),
  }),
  shown: z.object({ shown: flag }),
  pairing: z.object({
    pairing: record.optional(),
    pairings: z.array(record).optional(),
    next_after: z.string().nullish(),
    board: z.string().optional(),
  }),
  approval_watch: nothing,
  status: statusAnswer,
  shutdown: nothing,
} as const;

/** As they are on the wire: what may be absent is optional. */
export type Answers = { [Verb in keyof typeof answers]: z.input<(typeof answers)[Verb]> };
export type StatusAnswer = Answers['status'];
export type Response<Verb extends keyof Answers> = (Answers[Verb] & { v: 1 }) | { v: 1; error: ErrorFrame };
