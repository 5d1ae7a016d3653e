/** The state of one watched seat. */
import type { SeatProblem } from '../protocol.ts';
import type { SeatIdentity } from '../refs.ts';
import { Backoff } from './backoff.ts';
import { Ahead } from './inbox-read.ts';
import type { InboxRead, Notice } from './link.ts';
import { SingleFlight } from './single-flight.ts';

/** A braked seat is read again after this time at the earliest. */
export const MIN_BRAKE_MS = 1_000;

/** Reads of one kind, which are repeated after a temporary failure. */
export interface Reads<T> {
  flight: SingleFlight<T>;
  backoff: Backoff;
  /** A retry is already scheduled. */
  retrying: boolean;
}

export class SeatFeed {
  seat: SeatIdentity;
  /** Stops requests until a session binds the seat again or it has a new token. */
  problem: SeatProblem | null = null;
  /** The handle of its person; null until it was read. */
  owner: string | null = null;
  reportedProblem: SeatProblem | null = null;
  /** A token that the server refused and that is not used again. */
  refusedToken: string | null = null;
  /** The last used token, to notice a new one. */
  token: string | null = null;
  /** Highest message number in a read of the inbox. */
  lastSeen = 0;
  ahead = new Ahead();
  /** The head of its board as the stream reported it. */
  head = 0;
  /** When the head changed while the stream was opening; the inbox is read once it is open. */
  headMovedUs = 0;
  /** When the last successful read was sent; 0 for none. */
  lastReadUs = 0;
  readonly inbox: Reads<InboxRead>;
  readonly notices: Reads<Notice[]>;
  /** Whether agents' messages do not wake it, according to the last read. */
  braked = false;
  /** The next pause, in milliseconds, where it is braked after the end of its brake. */
  overduePauseMs = MIN_BRAKE_MS;
  /** Cancels the timer for the end of the brake. */
  brakeTimer = new AbortController();
  /** Aborts all work for the seat. */
  readonly ended = new AbortController();
  /** The last read failed because of this machine's files. */
  blockedByFiles = false;

  constructor(
    seat: SeatIdentity,
    random: () => number,
    readInbox: (feed: SeatFeed) => Promise<InboxRead>,
    readNotices: (feed: SeatFeed) => Promise<Notice[]>,
  ) {
    this.seat = seat;
    this.inbox = { flight: new SingleFlight(() => readInbox(this)), backoff: new Backoff(random), retrying: false };
    this.notices = { flight: new SingleFlight(() => readNotices(this)), backoff: new Backoff(random), retrying: false };
  }
}
