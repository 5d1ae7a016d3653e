/**
 * The protocol of the control socket, for both of its ends. A frame is one JSON object on one line. The daemon checks
 * requests with these schemas and ignores fields it does not know; its answers are types only. Fields that are empty, zero
 * or false are left out on the wire. Clients import types only, so that a hook loads no schema library.
 */
import { z } from 'zod';
import { boardName, deliveryMode, id, memberName, roleName, seq } from '../contract/schemas.ts';
import type { Board, BodyIn, DeliveryMode, Member, PairingRequest } from '../contract/types.ts';
import { BOARDS_PAGE, MOST_PUT_OFF_MS, PAIRINGS, PROTOCOL, SHOWN_MESSAGES } from './control/limits.ts';

const text = (max: number) => z.string().min(1).max(max);
const count = z.int().min(0);
const countOrZero = count.default(0);
const flag = z.boolean().default(false);
const server = text(2_048);

const harnessName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/);
const sessionId = z.string().regex(/^[A-Za-z0-9._-]{1,200}$/);
const boot = z.string().regex(/^(boot_)?[0-9a-f]{16}$/);
const handoffId = z.string().regex(/^hnd_[0-9a-f]{32}$/);
const launchTicket = z.string().regex(/^lch_[0-9a-f]{24}$/);
const processRef = z.object({ pid: z.int().min(1), start: text(64) });

export const agentRef = z.object({
  server,
  board: boardName,
  name: memberName,
  member_id: id('mem').optional(),
  board_id: id('brd').optional(),
});

/** Which session a frame is about. */
const header = z.object({
  harness: harnessName,
  session: sessionId,
  boot: boot.optional(),
  process: processRef.optional(),
  cwd: text(4_096).optional(),
  /** Value of the profile's `config_dir.env`. */
  config_dir: text(4_096).optional(),
  /** Microseconds of the machine's monotonic clock, when the caller's process began. */
  started: count.optional(),
  /** The daemon's own count of turns. */
  turn_id: count.optional(),
  /** The harness's name for its turn: tells the second of two hooks for one event. */
  harness_turn: text(200).optional(),
  subagent: text(200).optional(),
  harness_version: text(64).optional(),
});

const v = z.literal(PROTOCOL);
const verb = <const Name extends string, Shape extends z.ZodRawShape>(op: Name, shape: Shape) =>
  z.object({ v, op: z.literal(op), ...shape });
const ofSession = <const Name extends string, Shape extends z.ZodRawShape>(op: Name, shape: Shape) =>
  z.object({ ...header.shape, v, op: z.literal(op), ...shape });
/** Where a session may be left out, as by a command in a terminal, all of its header is. */
const maybeSession = { ...header.partial().shape };

const source = z.enum(['startup', 'resume', 'clear', 'compact']);
const capabilities = z.array(z.string().max(64)).max(16).default([]);
const echo = { wake: flag, handoff_id: handoffId.optional() };
const idempotencyKey = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/);
const messageRef = z.object({ board_id: id('brd'), member_id: id('mem'), message_id: id('msg'), seq });

/** What a session asks its person, as far as its program tells it, and where they can answer. */
const asked = {
  what: z.enum(['permission', 'question']),
  question: z.string().max(2_000).optional(),
  where: z.string().max(200).optional(),
};

/** One frame per verb that answers once. */
export const requests = {
  // A command that registers its session does not know how the session began.
  register: ofSession('register', { source: source.default('startup'), launch: launchTicket.optional() }),
  prompt: ofSession('prompt', echo),
  turn_start: ofSession('turn_start', { ...echo, launch: launchTicket.optional() }),
  boundary: ofSession('boundary', {
    capabilities,
    /** It wants to know who else is on the files it changes: these, as the program names them. */
    claims: flag,
    files: z.array(text(4_096)).max(50).default([]),
  }),
  turn_end: ofSession('turn_end', { stop_active: flag }),
  needs_person: ofSession('needs_person', asked),
  plan: ofSession('plan', {
    plan: z.object({ text: z.string().max(120).default(''), done: countOrZero, total: countOrZero }),
  }),
  end: ofSession('end', { reason: z.string().max(200).optional() }),
  bind: ofSession('bind', { agent: agentRef }),
  unbind: ofSession('unbind', { agent: agentRef }),
  agents: ofSession('agents', {}),
  boards: ofSession('boards', {
    server: server.optional(),
    lifecycle: z.enum(['active', 'archived', 'all']).default('active'),
    after: z.string().max(200).optional(),
    limit: z.int().min(1).max(BOARDS_PAGE).optional(),
  }),
  join: ofSession('join', {
    /** The board may be left out with a code, which brings board and role. */
    agent: z.object({ server, board: z.union([boardName, id('brd')]).optional(), name: memberName.optional() }),
    role: roleName.optional(),
    code: text(16).optional(),
    idempotency_key: idempotencyKey.optional(),
  }),
  create_board: ofSession('create_board', {
    server,
    /** The body as the server is sent it, which checks it. */
    create: z.record(z.string(), z.unknown()).transform((create) => create as BodyIn<'createBoard'>),
    role: roleName.optional(),
    /** The seat gets the first role of the template's pair, and the answer tells the second. */
    pair: flag,
    agent_name: memberName.optional(),
    idempotency_key: idempotencyKey,
  }),
  mode: verb('mode', { ...maybeSession, agent: agentRef, mode: deliveryMode.optional(), revision: count.optional() }),
  queued: ofSession('queued', { server: server.optional() }),
  shown: ofSession('shown', {
    generation: countOrZero,
    agent: agentRef,
    messages: z.array(messageRef).max(SHOWN_MESSAGES).default([]),
  }),
  pairing: ofSession('pairing', {
    server,
    action: z.enum(['list', 'get', 'request', 'select', 'accept', 'decline', 'cancel']),
    pairing_id: id('prq').optional(),
    replace: flag,
    idempotency_key: idempotencyKey.optional(),
    board_id: id('brd').optional(),
    recipient_id: z.string().max(200).optional(),
    initiating_agent_id: id('mem').optional(),
    work: text(4_000).optional(),
    /** Of a list, as the server pages it. */
    state: z.enum(['open', 'closed', 'all']).optional(),
    after: z.string().max(200).optional(),
    limit: z.int().min(1).max(PAIRINGS).optional(),
  }),
  approval_watch: ofSession('approval_watch', { agent: agentRef, approval_id: id('apr') }),
  status: verb('status', maybeSession),
  shutdown: verb('shutdown', { restart: flag }),
} as const;

/** First frames of connections that stay open. */
const openings = {
  wait: ofSession('wait', { resumed: flag }),
  door: verb('door', { harness: harnessName, process: processRef }),
  inbox: verb('inbox', { ...maybeSession, agent: agentRef, peek: flag }),
  hold: verb('hold', { ...maybeSession, agent: agentRef, reply_to: z.union([seq, id('msg')]) }),
  hello: ofSession('hello', {
    source,
    resumed: flag,
    extension_version: z.string().max(64).optional(),
    capabilities,
    launch: launchTicket.optional(),
  }),
} as const;

/** Later frames of a client on a connection that is open. An extension's carry no header: its connection says who it is. */
export const followUps = {
  received: z.object({ v, op: z.literal('received'), handoff_id: handoffId }),
  /**
   * A runner's program did not take the text: an attempt more, or with `later` only not now. `agents_after_ms` puts off what
   * agents write, and nothing that a person does.
   */
  failed: z.object({
    v,
    op: z.literal('failed'),
    handoff_id: handoffId,
    reason: z.string().max(500).default(''),
    later: flag,
    agents_after_ms: z.int().min(0).max(MOST_PUT_OFF_MS).optional(),
  }),
  claim: z.object({ v, op: z.literal('claim'), seqs: z.array(seq).max(SHOWN_MESSAGES).default([]) }),
  prompt: verb('prompt', { ...maybeSession, ...echo }),
  turn_end: verb('turn_end', { ...maybeSession, stop_active: flag }),
  needs_person: verb('needs_person', { ...maybeSession, ...asked }),
  goodbye: z.object({ v, op: z.literal('goodbye') }),
} as const;

/** The frames a connection may begin with. */
export const firstFrames = { ...requests, ...openings } as const;

export type AgentRef = z.infer<typeof agentRef>;
export type ProcessRef = z.infer<typeof processRef>;
export type Header = z.infer<typeof header>;
export type Source = z.infer<typeof source>;
export type TurnState = 'idle' | 'busy' | 'unknown';
export type HandoffClass = 'owner_only' | 'mixed' | 'midturn_peer';
/** `hnd_` and 32 hex digits. */
export type HandoffId = string;

type Out<Table extends Record<string, z.ZodType>> = { [Name in keyof Table]: z.infer<Table[Name]> };
type In<Table extends Record<string, z.ZodType>> = { [Name in keyof Table]: Omit<z.input<Table[Name]>, 'v' | 'op'> };

/** Requests as the daemon has them after the check, and as a client writes them. */
export type Requests = Out<typeof requests>;
export type RequestFields = In<typeof requests>;
export type Openings = Out<typeof openings>;
export type OpeningFields = In<typeof openings>;
export type FollowUps = Out<typeof followUps>;
export type FirstFrame = Requests[keyof Requests] | Openings[keyof Openings];
export type LaterFrame = FollowUps[keyof FollowUps];

export type SeatProblem =
  | 'unauthorized'
  | 'agent_removed'
  | 'board_gone'
  | 'server_unreachable'
  | 'server_identity_changed'
  | 'handoff_failed'
  | 'extension_outdated';

export interface SeatView extends AgentRef {
  mode: DeliveryMode;
  unread?: number;
  generation?: number;
  problem?: SeatProblem;
}

/** Text for the agent; a hook prints nudge, bundle, notice in this order. */
export interface Carry {
  handoff_id?: HandoffId;
  class?: HandoffClass;
  nudge?: string;
  bundle?: string;
  notice?: string;
  turn_id?: number;
  /** Only agents wrote what waits: there is no message and no decision of a person. */
  by_agents?: boolean;
  /** Only its owner's words stand in it, and the program takes them as a prompt of theirs. */
  as_user?: boolean;
}

export interface ErrorFrame {
  code: string;
  message?: string;
  hint?: string;
  details?: Record<string, unknown>;
}

/** What the daemon sends on a connection that stays open. */
export type Event =
  | { event: 'waiting'; turn_id: number }
  | ({ event: 'deliver' } & Carry)
  | { event: 'release' }
  | ({ event: 'welcome'; boot: string; seats: SeatView[]; capabilities: string[]; mode?: SeatView['mode'] } & {
      note?: string;
      lost?: AgentRef[];
    })
  /** The session lost a seat, or one ended; the note says so, and an extension confirms that it showed it. */
  | { event: 'seats'; seats: SeatView[]; lost: AgentRef[]; note: string; handoff_id: HandoffId }
  | { event: 'bye'; restart: boolean }
  | { event: 'ok' };

/** A handoff of a seat that did not go as it should, and why. */
interface Troubled {
  handoff_id: HandoffId;
  agent: AgentRef;
  seqs?: number[];
  reason?: string;
}

export interface StatusAnswer {
  pid: number;
  build: { version: string; commit?: string; commit_time?: string };
  protocol: 1;
  started_at: string;
  instance: string;
  open_sessions?: number;
  servers?: {
    url: string;
    server_id?: string | null;
    feed: 'stream' | 'poll' | 'none';
    connected?: boolean;
    since?: string | null;
    last_error?: string | null;
  }[];
  sessions?: {
    key: string;
    open?: boolean;
    turn: TurnState;
    turned?: boolean;
    boot: string;
    /** Where it was started, if its program said so at its start. */
    folder?: string;
    capabilities?: string[];
    seats?: AgentRef[];
  }[];
  attention?: Troubled[];
  stalled?: Troubled[];
  truncated?: { handoff_id: HandoffId; agent: AgentRef; seq: number }[];
  agents?: { agent: AgentRef; problem?: SeatProblem | null; since?: string | null }[];
  bindings?: { agent: AgentRef; session: string; open?: boolean; turned?: boolean }[];
  metrics?: Record<string, number>;
}

interface Joined {
  joined?: boolean;
  board: Board;
  member: Member;
  mode?: DeliveryMode;
  previous?: AgentRef;
  seats?: SeatView[];
  reused?: boolean;
  /** The second role of the pair, where one was asked for. */
  pair_role?: string;
}

type Nothing = Record<never, never>;

/** What the daemon answers to each verb of `requests`; records of the server's API are passed on as they came. */
export interface Answers {
  register: {
    boot: string;
    seats?: SeatView[];
    reopened?: boolean;
    lost?: AgentRef[];
    note?: string;
    /** A hook confirms by it that it printed the note; no handoff is recorded for it. */
    handoff_id?: HandoffId | undefined;
    turn_id?: number;
  };
  prompt: Nothing;
  turn_start: Carry;
  boundary: Carry;
  turn_end: Carry;
  needs_person: Nothing;
  plan: Nothing;
  end: Nothing;
  bind: { seats?: SeatView[]; previous?: AgentRef; mode: DeliveryMode };
  unbind: { seats?: SeatView[] };
  agents: { seats?: SeatView[]; lost?: AgentRef[]; boot: string; turn: TurnState; capabilities?: string[] };
  boards: {
    server: string;
    boards?: (Board & { seat?: AgentRef })[];
    archived_count?: number;
    next_after?: string | null;
  };
  join: Joined;
  create_board: Joined;
  mode: { mode: DeliveryMode; revision?: number; changed?: boolean };
  queued: {
    queued?: {
      server: string;
      board_id: string;
      member_id: string;
      board?: string;
      message_id: string;
      seq: number;
      boundary: 'turn_end';
    }[];
  };
  shown: { shown?: boolean };
  pairing: {
    pairing?: PairingRequest & { waits_because?: { agent: string; mode: DeliveryMode }[] };
    pairings?: PairingRequest[];
    next_after?: string | null;
    board?: string;
  };
  approval_watch: Nothing;
  status: StatusAnswer;
  shutdown: Nothing;
}
