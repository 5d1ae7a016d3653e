/** What is known of one watched seat on its server. */
import type { SeatProblem } from '../protocol.ts';
import type { SeatIdentity } from '../refs.ts';
import { Backoff } from './backoff.ts';
import type { InboxRead, Notice } from './link.ts';
import { SingleFlight } from './single-flight.ts';

/** How a seat is read. */
interface SeatReaders {
  inbox(feed: SeatFeed): Promise<InboxRead>;
  notices(feed: SeatFeed): Promise<Notice[]>;
}

export class SeatFeed {
  seat: SeatIdentity;
  /** Over until a session binds the seat again, or until it has another token. */
  problem: SeatProblem | null = null;
  reportedProblem: SeatProblem | null = null;
  /** A token that its server refused; no request is made with it any more. */
  refusedToken: string | null = null;
  /** The token that was used last, so that another one is noticed. */
  token: string | null = null;
  /** Highest number that a read of the inbox brought. */
  lastSeen = 0;
  /** The head of its board as the stream reported it. */
  head = 0;
  /** When the head moved while the stream was still opening; read once it is open. */
  headMovedUs = 0;
  /** When the latest read that succeeded was sent; 0: none did. */
  lastReadUs = 0;
  readonly reads: SingleFlight<InboxRead>;
  readonly noticeReads: SingleFlight<Notice[]>;
  readonly backoff: Backoff;
  readonly noticeBackoff: Backoff;
  /** Whether its latest read said that agents' messages do not wake it. */
  braked = false;
  /** Ends the sleep until agents' messages wake the seat again. */
  brakeTimer = new AbortController();
  /** Ends what is going on for the seat. */
  readonly ended = new AbortController();
  /** A read was not made because of this machine's own files. */
  blockedByFiles = false;
  /** Other reads after ones that failed are planned already. */
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
