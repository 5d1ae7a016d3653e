/**
 * What the parts of the delivery daemon say to each other: its vocabulary, and the ports at which the core meets servers
 * (`Origin`), programs that run agents (`Adapter`), the text that agents read (`Compose`) and the seats saved on this
 * machine (`SavedSeats`). Everything that belongs to a server is keyed by its canonical origin; a seat by origin and
 * `member_id`. Times called `...Us` are microseconds of the machine's monotonic clock, which all processes share.
 */
import type { Answer, DeliveryMode, Inbox } from '../contract/types.ts';
import type { Fate } from './bundle/options.ts';

export type Mode = DeliveryMode;
export type { Inbox };
export type Notice = Answer<'listNotices'>['notices'][number];

/** `<harness>:<session id>`. */
export type SessionKey = string;

/** `hnd_` and 32 hex digits. */
export type HandoffId = string;

/** What a seat is known by. */
export interface SeatRef {
  origin: string;
  member_id: string;
}

/** The seat of a reference as one string, for maps. */
export const seatKey = ({ origin, member_id }: SeatRef): string => `${origin} ${member_id}`;

/** A seat as this machine's saved token proves it; `board` and `name` are for display only. */
export interface SeatIdentity extends SeatRef {
  board_id: string;
  board: string;
  name: string;
}

/** A seat as a frame names it. */
export interface AgentRef {
  server: string;
  board: string;
  name: string;
  member_id?: string;
  board_id?: string;
}

export type SeatProblem =
  | 'unauthorized'
  | 'agent_removed'
  | 'board_gone'
  | 'server_unreachable'
  | 'server_identity_changed'
  | 'handoff_failed'
  | 'extension_outdated';

/** Problems after which a seat is over until a session binds it again. */
export const finalProblems: readonly SeatProblem[] = ['agent_removed', 'board_gone'];

export interface SeatView extends AgentRef {
  mode: Mode;
  unread: number;
  generation: number;
  problem?: SeatProblem;
}

export interface ProcessRef {
  pid: number;
  /** As the system tells it: field 22 of /proc/<pid>/stat, or `ps -o lstart=`. */
  start: string;
}

export type Source = 'startup' | 'resume' | 'clear' | 'compact';
export type TurnState = 'idle' | 'busy' | 'unknown';
export type HandoffClass = 'owner_only' | 'mixed' | 'midturn_peer';
/** How a handoff reaches its session. */
export type HandoffPath = 'wait' | 'prompt' | 'tool' | 'turn_end' | 'queue' | 'extension';
/** How much of a message stood in the text. `truncated` counts as received except at a tool boundary. */
export type MessageForm = 'full' | 'digest' | 'truncated';

/** Text for the agent. A hook prints `nudge`, then `bundle`, then `notice`. */
export interface Carry {
  handoff_id?: HandoffId;
  class?: HandoffClass;
  nudge?: string;
  bundle?: string;
  notice?: string;
  turn_id?: number;
  /** Nothing of a person waits, neither a message nor a decision. */
  by_agents?: true;
  /** Only its person's words stand in it, and the program is to take them as a prompt of theirs. */
  as_user?: true;
}

/** A refusal on the control socket; commands print it as it is. */
export interface ControlError {
  code: string;
  message: string;
  hint: string;
  details?: Record<string, unknown>;
}

/** A session as everything but its own actor sees it. */
export interface SessionView {
  key: SessionKey;
  harness: string;
  session: string;
  boot: string;
  open: boolean;
  turn: TurnState;
  /** Whether any turn was ever reported; without, nothing is known about turns. */
  turned: boolean;
  /** It told that it waits for its person. */
  needsPerson: boolean;
  process?: ProcessRef;
  cwd?: string;
  config_dir?: string;
  harness_version?: string;
  seats: SeatIdentity[];
}

// ---------------------------------------------------------------------------------------------------------- servers

/** One complete own-token read: up to 1,000 unread messages, `after` paged. */
export interface InboxRead {
  inbox: Inbox;
  /** Every unread message up to this number is in it, and behind it only urgent ones. Null: it has all. */
  wholeUpTo: number | null;
  /** What became of the tasks that waited for the answers in it, by the answer's id; as far as it could be read. */
  fates?: ReadonlyMap<string, Fate>;
  /** When the request of its first page was sent; a read is fresh for what held before this. */
  sentUs: number;
  /** When it was complete. */
  atUs: number;
}

/** Why a seat's server gave nothing. `problem` is what the seat now has; without it the failure passes. */
export class SeatFailure extends Error {
  readonly code: string;
  readonly problem: SeatProblem | undefined;

  constructor(code: string, message: string, problem?: SeatProblem) {
    super(message);
    this.name = 'SeatFailure';
    this.code = code;
    this.problem = problem;
  }
}

export type Presence = 'working' | 'idle' | 'waiting' | 'no_session';

/** What a server connection tells about a watched seat. Hints of its stream have been turned into own-token reads. */
export interface OriginEvents {
  /** A read of the inbox is complete: after a moved head, a reconnect, a poll, or because it was asked for. */
  inbox(seat: SeatRef, read: InboxRead): void;
  /** The cursor on the server moved, whoever acknowledged. */
  read(seat: SeatRef, upTo: number): void;
  /** A mode the server told; the higher revision wins. */
  mode(seat: SeatRef, mode: Mode, revision: number): void;
  /** Unexpired notices that are not acknowledged: the whole list each time it was read. */
  notices(seat: SeatRef, notices: Notice[]): void;
  /** The seat's problem, or null when it is over. Final ones come once. */
  problem(seat: SeatRef, problem: SeatProblem | null): void;
  /** `credentials.json` holds another token for the seat. */
  token(seat: SeatRef): void;
}

/** A server, as `status` names it. */
export interface ServerView {
  url: string;
  server_id: string | null;
  feed: 'stream' | 'poll' | 'none';
  connected: boolean;
  since: string | null;
  last_error?: string;
  /** Times it connected again. */
  reconnects: number;
}

/** The connection to one server. Every method speaks with the seat's own token and throws `SeatFailure`. */
export interface Origin {
  readonly url: string;
  /** Begins to follow a seat, with one read of inbox and notices; once more has no effect. */
  watch(seat: SeatIdentity): void;
  unwatch(seat: SeatRef): void;
  /** A read that is sent after this call. */
  read(seat: SeatRef, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<InboxRead>;
  /** @throws SeatFailure `ack_out_of_range` when the server does not have that number. */
  ack(seat: SeatRef, upTo: number): Promise<{ cursor: number }>;
  notices(seat: SeatRef): Promise<Notice[]>;
  ackNotices(seat: SeatRef, ids: string[]): Promise<void>;
  presence(seat: SeatRef, presence: Presence, delivery?: Mode): Promise<void>;
  location(seat: SeatRef, at: { harness: string; session_id: string; folder: string }): Promise<void>;
  line(seat: SeatRef, text: string): Promise<void>;
  /** How often the report of the program's queue was claimed. */
  queueEpoch(seat: SeatRef): Promise<{ epoch: number }>;
  /** @throws SeatFailure `queue_report_conflict` when somebody else claimed it meanwhile. */
  claimQueue(seat: SeatRef, claim: QueueLabel & { expected_epoch: number }): Promise<{ epoch: number }>;
  /** @throws SeatFailure `queue_report_conflict` when somebody else holds it, or has said more. */
  reportQueue(
    seat: SeatRef,
    report: QueueLabel & { epoch: number; revision: number; messages: { message_id: string; seq: number }[] },
  ): Promise<void>;
  view(): ServerView;
}

/** Who reports a program's queue. */
export interface QueueLabel {
  session: SessionKey;
  boot: string;
}

/** All servers. A token goes only to the origin that issued it. */
export interface Origins {
  at(origin: string): Origin;
  /** Those with a watched seat. */
  views(): ServerView[];
  /** The file of credentials or its mode changed the outcome: `credentials_unsafe`, or null. */
  credentialsProblem(): ControlError | null;
  close(): Promise<void>;
}

/** The seats this machine holds tokens for, from `credentials.json`; never a token. */
export interface SavedSeats {
  /**
   * Those that fit what a frame names: by `member_id` if it names one, else by server, board and name. An identity stands
   * only for what its own token proves (the stored id).
   */
  find(ref: AgentRef): SeatIdentity[];
  byId(seat: SeatRef): SeatIdentity | null;
}

/** Presence, location, lines and queue reports: told after every change of a session, they write what differs. */
export interface Reports {
  session(view: SessionView): void;
  /** The seat has left a session, which ended or gave it up. */
  released(seat: SeatRef): void;
  /** What the session's program has in its own queue and nobody has acknowledged: all of it each time. */
  queued(view: SessionView, messages: readonly (SeatRef & { message_id: string; seq: number })[]): void;
  plan(view: SessionView, plan: { text: string; done: number; total: number }): void;
  close(): Promise<void>;
}

// ----------------------------------------------------------------------------------------------------------- harnesses

export type Capability =
  | 'idle-hook'
  | 'queue'
  | 'turn-end-hook'
  | 'extension'
  | 'turn-start'
  | 'tool-boundary'
  | 'midturn-peer'
  | 'waiting-signal'
  | 'owner-door'
  | 'none';

export interface Limits {
  bundle_bytes: number;
  context_bytes: number;
}

/** What decides whether a handoff can be given now. */
export interface CarrierState {
  turn: TurnState;
  /** A hook of the session waits. */
  waiting: boolean;
  /** Its extension or runner is connected. */
  extension: boolean;
  /** Its program takes prompts from us. */
  door: boolean;
}

export type TargetRefusal = 'harness_target_absent' | 'harness_subagent_target' | 'harness_unavailable';

/**
 * What a program says of a session: `unstarted` where it has written nothing down of it yet, because it has had no turn or
 * because there is none.
 */
export type Target = 'ok' | 'unstarted' | { code: TargetRefusal };

/** One program that runs agents, by its profile. Sees no token, no cursor, no journal. */
export interface Adapter {
  readonly harness: string;
  readonly capabilities: ReadonlySet<Capability>;
  /** A wake comes back as a prompt that holds the handoff's id. */
  readonly wakeEcho: boolean;
  /** What wakes a session is given to its agent as no word of its person. */
  readonly disowns: boolean;
  readonly liveness: 'process' | 'connection';
  readonly limits: Limits;
  /** Further tags that mean something to it. */
  readonly reservedTags: readonly string[];
  /** Whether the session exists and is no sub-conversation. */
  check(session: SessionView): Promise<Target>;
  canHand(state: CarrierState): 'now' | 'later';
  /**
   * Gives a bundle to the program's own queue; waiting hooks and extensions are served over their connections instead.
   * `{ later }`: locked or busy, which counts as no attempt.
   */
  hand(
    session: SessionView,
    text: string,
    handoffId: HandoffId,
  ): Promise<'accepted' | 'accepted_confirmed' | { retry: string } | { later: string }>;
}

export interface Adapters {
  /** A harness without a profile gets what every program can do. */
  of(harness: string): Adapter;
}

// ---------------------------------------------------------------------------------------------------------------- text

/** Where text is about to be given. */
export type Point = 'wake' | 'turn_start' | 'boundary' | 'turn_end';

export interface ComposeSeat {
  seat: SeatIdentity;
  /** Read with its own token just now; the only source of bodies. */
  inbox: Inbox;
  fates?: ReadonlyMap<string, Fate>;
  /** The one with the highest revision known. */
  mode: Mode;
  /** What the session was last told its mode is; null: nothing yet. */
  toldMode: Mode | null;
  /** Messages that are received, shown, held or on their way: not given and not counted. */
  skip: ReadonlySet<string>;
  /** Messages of a handoff that has to be given again: given at every point, whatever the mode, unless it is `off`. */
  again: ReadonlySet<string>;
  /** Notices that are not acknowledged and not on their way. */
  notices: readonly Notice[];
  /** Waiting notices named everything up to here in this boot. */
  announcedUpTo: number;
  /** Whether a reminder of this kind was already given for this occasion. */
  nudged(code: string, key: string): boolean;
}

export interface ComposeInput {
  point: Point;
  handoffId: HandoffId;
  seats: readonly ComposeSeat[];
  /** The session holds several seats, also where only one has something to give; servers likewise. */
  severalSeats: boolean;
  severalServers: boolean;
  limits: Limits;
  reservedTags: readonly string[];
  /** Urgent messages of the person's other agents that may still enter this turn; 0 where the harness cannot. */
  peersLeft: number;
  /** Milliseconds since the epoch. */
  now: number;
  /** The selection of an earlier try, which is given again exactly where all of it is still unread. */
  frozen?: readonly (SeatRef & { message_id: string })[];
  /** Number of the handoff in its session, for the fair rotation of boards. */
  rotation: number;
  /** Only the words of its person, without a line of anybody else's: it is taken as theirs. */
  ownerOnly?: boolean;
  /** The program tells its agent that a text given this way is not its person's. */
  disowned?: boolean;
}

export interface Composed {
  /** Absent parts have nothing to say. */
  nudge?: string;
  bundle?: string;
  notice?: string;
  class: HandoffClass;
  messages: (SeatRef & { message_id: string; seq: number; form: MessageForm })[];
  /** Notices that stand in the text. */
  notices: (SeatRef & { id: string })[];
  /** Reminders that stand in the text, with what they were for. */
  nudges: (SeatRef & { code: string; key: string })[];
  /** Modes the text told. */
  modes: (SeatRef & { mode: Mode })[];
  /** Up to where the waiting notice now names everything. */
  announced: (SeatRef & { up_to_seq: number })[];
  /** Urgent messages of other agents among them. */
  peers: number;
}

/** Chooses and renders; pure, so the same input gives the same text. */
export interface Compose {
  /** Whether something in there wakes an idle session. */
  wakes(seat: ComposeSeat): boolean;
  compose(input: ComposeInput): Composed;
  /** The note for a session that takes or regains seats, or was compacted; at most 600 bytes a seat. */
  note(seats: readonly { seat: SeatIdentity; mode: Mode; inbox: Inbox | null }[]): string;
}

// ---------------------------------------------------------------------------------------------------- machine's rights

/** A seat that the machine's delegation brought; its token is saved already. */
export interface JoinedSeat {
  seat: SeatIdentity;
  mode: Mode;
  /** Further fields of the verb's answer. */
  answer: Record<string, unknown>;
}

/** `boards`, `join` and `create_board` for a session that the caller has vouched for. Throws `ControlRefusal`. */
export interface Delegating {
  boards(session: SessionView, request: Record<string, unknown>): Promise<Record<string, unknown>>;
  join(session: SessionView, request: Record<string, unknown>): Promise<JoinedSeat>;
  createBoard(session: SessionView, request: Record<string, unknown>): Promise<JoinedSeat>;
  close(): void;
}

/** A refusal that a verb answers with. */
export class ControlRefusal extends Error {
  readonly code: string;
  readonly hint: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: string, message: string, options: { hint?: string; details?: Record<string, unknown> } = {}) {
    super(message);
    this.name = 'ControlRefusal';
    this.code = code;
    this.hint = options.hint ?? '';
    this.details = options.details;
  }
}
