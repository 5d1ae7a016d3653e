/**
 * One session: its boot, its turn, what it can be reached by, its seats, and the handoff on its way to it. And one seat
 * that this machine holds or held: what its server last said, which session holds it, and what is kept from that session.
 */
import type { DeliveryMode, Inbox } from '../../contract/types.ts';
import type { Peer } from '../control/peer.ts';
import type { HandoffPath, SeatRow, SessionRow } from '../journal/rows.ts';
import type { AgentRef, HandoffId, SeatView, TurnState } from '../protocol.ts';
import { agentRefOf, type NeedsPerson, type SeatIdentity, type SeatRef, type SessionView } from '../refs.ts';
import type { InboxRead, Notice } from '../server-link/link.ts';

/** What the journal notes once the carrier has the text. */
export interface Effects {
  nudges: (SeatRef & { code: string; key: string })[];
  modes: (SeatRef & { mode: DeliveryMode })[];
  announced: (SeatRef & { up_to_seq: number })[];
}

/** The one handoff that is exposed and not confirmed. */
export interface InFlightHandoff {
  id: HandoffId;
  path: HandoffPath;
  boot: string;
  /** The carrier may have the text. */
  exposed: boolean;
  /** Monotonic microseconds; null until the carrier said so. */
  acceptedUs: number | null;
  /** The wake came back as a prompt. */
  echoed: boolean;
  stalled: boolean;
  attempts: number;
  effects: Effects;
  cancelStall: () => void;
}

/** A waiting hook. */
interface Waiting {
  peer: Peer;
}

/** An extension or runner. */
interface Extension {
  peer: Peer;
  capabilities: readonly string[];
  /** Its `welcome` was sent; nothing is delivered before that. */
  welcomed: boolean;
}

/** Changed only between two awaits: what was read before an await is checked again for carrier, boot and generation. */
export class Session {
  row: SessionRow;
  turn: TurnState;
  needsPerson: NeedsPerson | null = null;
  /** Its program did not know it yet when it registered, so it is checked again before a seat is bound. */
  unverified = false;
  capabilities: readonly string[] = [];
  waiting: Waiting | null = null;
  extension: Extension | null = null;
  /** In the order in which they were bound. */
  readonly seats = new Set<Seat>();
  flight: InFlightHandoff | null = null;
  /** A handoff is being made; another token in its place stops it. */
  preparing: object | null = null;
  /** The last prompt or tool call, in monotonic microseconds. */
  activityUs = 0;
  /** Since when it can be reached and nothing is on its way to it. */
  readyUs = 0;
  /** When the last delivery was over; what arrives around it is gathered. */
  deliveredUs = 0;
  arrivedUs = 0;
  batching = false;
  cancelTimer: () => void = () => {};
  /** Something happened while a handoff was being made. */
  rerun = false;
  failures = 0;
  /** Ids of messages that were left out of a bundle with only its owner's words: they are handed right after it. */
  heldBack: ReadonlySet<string> = new Set();
  notBeforeUs = 0;
  /** Until then a runner wants nothing that only agents wrote. */
  agentsNotBeforeUs = 0;
  /** Stop hooks in a row that continued the turn. */
  continuations = 0;
  /** A tool hook is being answered. */
  boundary = false;
  /** Handoffs made, for the rotation of boards. */
  rotation = 0;
  /** Lines for its next context that are about no message. */
  readonly pendingLines: string[] = [];
  /** Files that it changed since it asks who else is on them, by their place on this machine. */
  readonly edited = new Map<string, { repo: string | null; path: string; warned: boolean }>();
  /** The last start or end of a turn that the harness named, in monotonic microseconds; null once a tool call came after it. */
  lastTurnEvent: { key: string; us: number } | null = null;
  /** When it was last registered, by source, in monotonic microseconds. */
  readonly registeredUs = new Map<string, number>();
  /** Seat additions, one after the other. */
  additions: Promise<unknown> = Promise.resolve();
  cancelGrace: () => void = () => {};

  constructor(row: SessionRow, turn: TurnState) {
    this.row = row;
    this.turn = turn;
  }

  /** Stops a handoff that is being made, because the session's seats have changed. */
  stopPreparing(): void {
    if (this.preparing) this.rerun = true;
    this.preparing = null;
  }

  get key(): string {
    return this.row.key;
  }

  get view(): SessionView {
    const { key, harness, session_id, boot, open, turned, pid, pid_start, cwd, config_dir, harness_version } = this.row;
    const taken = this.flight?.acceptedUs != null && this.flight.path === 'wait' && !this.flight.stalled;
    return {
      key,
      harness,
      session: session_id,
      boot,
      open,
      // A waiting hook that took a bundle is about to wake its session.
      turn: taken && this.turn === 'idle' ? 'busy' : this.turn,
      turned,
      needsPerson: this.needsPerson,
      ...(pid !== null && pid_start !== null ? { process: { pid, start: pid_start } } : {}),
      ...(cwd === null ? {} : { cwd }),
      ...(config_dir === null ? {} : { config_dir }),
      ...(harness_version === null ? {} : { harness_version }),
      seats: [...this.seats].map((seat) => seat.identity),
    };
  }
}

/** An open connection of a command that reads messages itself: they are not handed to the session meanwhile. */
export interface Hold {
  /** Replies to this message only; left out: everything. */
  replyTo?: string | number;
}

export class Seat {
  row: SeatRow;
  session: Session | null = null;
  /** What its session was last told the mode is. */
  announcedMode: DeliveryMode | null = null;
  boundAt = 0;
  latest: InboxRead | null = null;
  notices: readonly Notice[] = [];
  readonly holds = new Set<Hold>();
  /** Received and not yet passed by the cursor, by message id. */
  readonly received = new Map<string, number>();
  /** Updates from its server that the journal could not write yet, by kind, oldest first. */
  readonly pendingUpdates = new Map<string, (seat: Seat) => void>();
  /** The newest message that was seen in a read. */
  seenSeq = 0;

  constructor(row: SeatRow) {
    this.row = row;
  }

  get identity(): SeatIdentity {
    const { origin, member_id, board_id, board, name } = this.row;
    return { origin, member_id, board_id, board, name };
  }

  get ref(): AgentRef {
    return agentRefOf(this.row);
  }

  get view(): SeatView {
    const { mode, generation, problem } = this.row;
    return { ...this.ref, mode, unread: this.unread, generation, ...(problem ? { problem } : {}) };
  }

  /** Messages that are not received yet, as of the last read. */
  get unread(): number {
    if (!this.latest) return 0;
    const { unread, messages } = this.latest.inbox;
    const received = messages.filter(({ id, seq }) => seq <= this.row.cursor || this.received.has(id)).length;
    return Math.max(0, unread - received);
  }

  /** A command is reading the whole inbox right now. */
  get isReadByCommand(): boolean {
    return [...this.holds].some(({ replyTo }) => replyTo === undefined);
  }

  /** Whether a command waits for exactly this reply. */
  isAwaited({ reply_to, reply_to_seq }: Inbox['messages'][number]): boolean {
    if (reply_to === null) return false;
    return [...this.holds].some(({ replyTo }) => replyTo === reply_to || replyTo === reply_to_seq);
  }
}
