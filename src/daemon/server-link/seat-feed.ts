/** The state of one watched seat. */
import type { SeatProblem } from '../protocol.ts';
import type { SeatIdentity } from '../refs.ts';
import { Backoff } from './backoff.ts';
import type { InboxRead, Notice } from './link.ts';
import { SingleFlight } from './single-flight.ts';

/** Functions that read a seat. */
interface SeatReaders {
  inbox(feed: SeatFeed): Promise<InboxRead>;
  notices(feed: SeatFeed): Promise<Notice[]>;
}

export class SeatFeed {
  seat: SeatIdentity;
  /** Stops requests until a session binds the seat again or it has a new token. */
  problem: SeatProblem | null = null;
  reportedProblem: SeatProblem | null = null;
  /** A token that the server refused and that is not used again. */
  refusedToken: string | null = null;
  /** The last used token, to notice a new one. */
  token: string | null = null;
  /** Highest message number in a read of the inbox. */
  lastSeen = 0;
  /** The head of its board as the stream reported it. */
  head = 0;
  /** When the head changed while the stream was opening; the inbox is read once it is open. */
  headMovedUs = 0;
  /** When the last successful read was sent; 0 for none. */
  lastReadUs = 0;
  readonly reads: SingleFlight<InboxRead>;
  readonly noticeReads: SingleFlight<Notice[]>;
  readonly backoff: Backoff;
  readonly noticeBackoff: Backoff;
  /** Whether agents' messages do not wake it, according to the last read. */
  braked = false;
  /** Cancels the timer for the end of the brake. */
  brakeTimer = new AbortController();
  /** Aborts all work for the seat. */
  readonly ended = new AbortController();
  /** The last read failed because of this machine's files. */
  blockedByFiles = false;
  /** A retry is already scheduled. */
  retrying = false;
  noticesRetrying = false;

  constructor(seat: SeatIdentity, random: () => number, { inbox, notices }: SeatReaders) {
    this.seat = seat;
    this.backoff = new Backoff(random);
    this.noticeBackoff = new Backoff(random);
    this.reads = new SingleFlight(() => inbox(this));
    this.noticeReads = new SingleFlight(() => notices(this));
  }
}
