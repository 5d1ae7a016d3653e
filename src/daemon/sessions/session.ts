/**
 * The state of a session (boot, turn, carriers, seats, handoff in flight) and of a seat (last read, session, messages that
 * commands hold back from the session); and the events of sessions, for reports, pairings and waking.
 */
import type { EventEmitter } from 'node:events';
import type { DeliveryMode, Inbox } from '../../contract/types.ts';
import type { Composed } from '../compose/types.ts';
import type { Peer } from '../control/peer.ts';
import type { HandoffPath, SeatRow, SessionRow } from '../journal/rows.ts';
import type { AgentRef, HandoffId, SeatView, TurnState } from '../protocol.ts';
import {
  agentRefOf,
  isFinal,
  type NeedsPerson,
  type SeatIdentity,
  type SeatRef,
  type SessionKey,
  type SessionView,
} from '../refs.ts';
import type { InboxRead, Notice } from '../server-link/link.ts';

/** What the journal records once the carrier has the text. */
export interface Effects extends Pick<Composed, 'nudges' | 'modes' | 'announced'> {
  gone: GoneSeats;
  /** Those of the session's pending lines that are in the text. */
  pending: readonly string[];
}

/** Seats that the session no longer has: taken by another session, or ended. `key` identifies the end. */
export interface GoneSeats {
  lost: readonly SeatRef[];
  ended: readonly (SeatRef & { key: string })[];
}

/** The handoff that is sent or about to be sent, and not confirmed. */
export interface InFlightHandoff {
  id: HandoffId;
  path: HandoffPath;
  boot: string;
  /** The carrier may have the text. */
  exposed: boolean;
  /** Monotonic microseconds; null until the carrier has accepted it. */
  acceptedUs: number | null;
  /** The program reported the wake as a prompt. */
  echoed: boolean;
  stalled: boolean;
  attempts: number;
  effects: Effects;
  cancelStall: () => void;
}

/** An extension or runner. */
interface Extension {
  peer: Peer;
  capabilities: readonly string[];
  /** Its `welcome` was sent; nothing is delivered before that. */
  welcomed: boolean;
}

/** A file as a session edited it, in a repository that has a name. */
export interface EditedFile {
  repo: string;
  path: string;
  /** Whether the session was told who else works on it. */
  warned: boolean;
}

/** State can change during every await, so carrier, boot and generation are checked again afterwards. */
export class Session {
  row: SessionRow;
  turn: TurnState;
  /** The daemon started since its last report, so a turn may be running that nothing was heard of. */
  unheard = false;
  needsPerson: NeedsPerson | null = null;
  /** Its program did not know it when it registered, so it is checked again before a seat is bound. */
  unverified = false;
  capabilities: readonly string[] = [];
  /** A waiting hook. */
  waiting: { peer: Peer } | null = null;
  extension: Extension | null = null;
  /** In the order in which they were bound. */
  readonly seats = new Set<Seat>();
  flight: InFlightHandoff | null = null;
  /** A hook is writing a text without a handoff; what that tells is not repeated meanwhile. */
  telling: object | null = null;
  /** Token of the handoff that is being prepared; replacing it cancels the preparation. */
  preparing: object | null = null;
  /** When it last registered or had an event, in monotonic microseconds. */
  lastSeenUs = 0;
  /** The last prompt or tool call, in monotonic microseconds. */
  activityUs = 0;
  /** Since when it is reachable without a handoff in flight. */
  readyUs = 0;
  /** When the last delivery ended; messages that arrive around it are batched. */
  deliveredUs = 0;
  arrivedUs = 0;
  batching = false;
  cancelTimer: () => void = () => {};
  /** Something changed while a handoff was being prepared. */
  rerun = false;
  failures = 0;
  /** Ids of messages left out of a bundle with only its owner's messages: they are delivered after it. */
  heldBack: ReadonlySet<string> = new Set();
  notBeforeUs = 0;
  /** Until then a runner accepts no handoff with only agents' messages. */
  agentsNotBeforeUs = 0;
  /** Consecutive stop hooks that continued the turn. */
  continuations = 0;
  /** A tool hook is being answered. */
  boundary = false;
  /** Number of handoffs, to rotate the boards. */
  rotation = 0;
  /** Lines for the next text that do not belong to a message. */
  readonly pendingLines: string[] = [];
  /** Files that it edited, by absolute path, to warn about other agents that work on them. */
  readonly edited = new Map<string, EditedFile>();
  /** The last start or end of a turn, to detect duplicates; null after a tool call. */
  lastTurnEvent: { key: string; us: number } | null = null;
  /** When it last registered, by source. */
  readonly registeredUs = new Map<string, number>();
  /** Chain of seat additions, which run one at a time. */
  additions: Promise<unknown> = Promise.resolve();
  cancelGrace: () => void = () => {};

  constructor(row: SessionRow, turn: TurnState) {
    this.row = row;
    this.turn = turn;
  }

  /** Cancels a handoff that is being prepared, because the session's seats changed. */
  stopPreparing(): void {
    if (this.preparing) this.rerun = true;
    this.preparing = null;
  }

  get key(): string {
    return this.row.key;
  }

  /** Its seats that have not ended. */
  get currentSeats(): Seat[] {
    return [...this.seats].filter(({ row }) => !isFinal(row.problem));
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
      // A waiting hook that accepted a bundle is about to wake its session.
      turn: taken && this.turn === 'idle' ? 'busy' : this.turn,
      turned,
      needsPerson: this.needsPerson,
      ...(pid !== null && pid_start !== null ? { process: { pid, start: pid_start } } : {}),
      ...(cwd === null ? {} : { cwd }),
      ...(config_dir === null ? {} : { config_dir }),
      ...(harness_version === null ? {} : { harness_version }),
      seats: [...this.seats].map(({ identity, latest, row }) => ({ ...identity, mode: latest ? row.mode : undefined })),
    };
  }
}

/** A command that reads messages itself; meanwhile they are not delivered to the session. */
export interface Hold {
  /** Holds only replies to this message; without, the whole inbox. */
  replyTo?: string | number;
}

export class Seat {
  row: SeatRow;
  session: Session | null = null;
  /** The mode that was last announced to its session. */
  announcedMode: DeliveryMode | null = null;
  boundAt = 0;
  latest: InboxRead | null = null;
  /** When the cursor last moved: a read that was sent earlier may have an older one. */
  cursorUs = 0;
  /** The same of the mode: what sets it may say nothing of the cursor. */
  modeUs = 0;
  notices: readonly Notice[] = [];
  readonly holds = new Set<Hold>();
  /** Numbers of received messages after the cursor, by message id. */
  readonly received = new Map<string, number>();
  /** Updates from its server that the journal could not write yet, by kind, oldest first. */
  readonly pendingUpdates = new Map<string, (seat: Seat) => void>();
  /** Number of the newest message in any read. */
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

  /** Number of messages not received yet, as of the last read. */
  get unread(): number {
    if (!this.latest) return 0;
    const { unread, messages } = this.latest.inbox;
    const received = messages.filter(({ id, seq }) => seq <= this.row.cursor || this.received.has(id)).length;
    return Math.max(0, unread - received);
  }

  /** Whether a command is reading the whole inbox. */
  get isReadByCommand(): boolean {
    return [...this.holds].some(({ replyTo }) => replyTo === undefined);
  }

  /** Whether a command waits for exactly this reply. */
  isAwaited({ reply_to, reply_to_seq }: Inbox['messages'][number]): boolean {
    if (reply_to === null) return false;
    return [...this.holds].some(({ replyTo }) => replyTo === reply_to || replyTo === reply_to_seq);
  }
}

/** Messages whose receipt by a session is confirmed. */
export interface Receipt {
  session: SessionKey;
  boot: string;
  handoff: HandoffId;
  messages: readonly (SeatRef & { message_id: string; seq: number })[];
}

interface SessionEventMap {
  /** Its boot, turn, seats or handoff changed. */
  changed: [session: Session];
  /** It may have to be woken. */
  deliverable: [session: Session];
  /** It lost a seat to another session, or a seat of it ended. */
  unseated: [session: Session];
  /** A seat was released by its session. */
  released: [seat: SeatRef];
  received: [receipt: Receipt];
}
export type SessionEvents = EventEmitter<SessionEventMap>;
