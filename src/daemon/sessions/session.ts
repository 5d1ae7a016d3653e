/** One session: its boot, its turn, what it can be reached by, its seats, and the handoff on its way to it. */
import type { Peer } from '../control/peer.ts';
import type { SessionRow } from '../journal/types.ts';
import type { HandoffId, HandoffPath, Mode, SeatRef, SessionView, TurnState } from '../types.ts';
import type { Seat } from './seat.ts';

/** What is written down once the carrier has the text. */
export interface Effects {
  nudges: (SeatRef & { code: string; key: string })[];
  modes: (SeatRef & { mode: Mode })[];
  announced: (SeatRef & { up_to_seq: number })[];
}

/** The one handoff that is exposed and not confirmed. */
export interface Flight {
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
export interface Waiting {
  peer: Peer;
}

/** An extension or runner. */
export interface Extension {
  peer: Peer;
  capabilities: readonly string[];
  /** It was told who it is; nothing comes before that. */
  welcomed: boolean;
}

export class Session {
  row: SessionRow;
  turn: TurnState;
  needsPerson = false;
  /** Its program had written nothing down of it when it registered, so it is asked again before a seat is bound. */
  unproven = false;
  capabilities: readonly string[] = [];
  waiting: Waiting | null = null;
  extension: Extension | null = null;
  /** In the order in which they were bound. */
  readonly seats = new Set<Seat>();
  flight: Flight | null = null;
  /** A handoff is being made; another token in its place stops it. */
  preparing: object | null = null;
  /** The last prompt or tool call, in monotonic microseconds. */
  activityUs = 0;
  /** Since when it can be reached and nothing is on its way to it. */
  readyUs = 0;
  /** When the last delivery was over; what arrives around it is gathered. */
  deliveredUs = 0;
  arrivedUs = 0;
  gathering = false;
  cancelTimer: () => void = () => {};
  /** Something happened while a handoff was being made. */
  again = false;
  failures = 0;
  /** Ids of what would have come in one bundle with its person's word, which went alone: it comes right after that. */
  owed: ReadonlySet<string> = new Set();
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
  readonly lines: string[] = [];
  /** The last start or end of a turn that the harness named, in monotonic microseconds; null once a tool call came after it. */
  lastTurnEvent: { key: string; us: number } | null = null;
  /** When it was last registered, by source, in monotonic microseconds. */
  readonly registered = new Map<string, number>();
  /** Seat additions, one after the other. */
  additions: Promise<unknown> = Promise.resolve();
  cancelGrace: () => void = () => {};

  constructor(row: SessionRow, turn: TurnState) {
    this.row = row;
    this.turn = turn;
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
