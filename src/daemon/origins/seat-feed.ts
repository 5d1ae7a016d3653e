/** What is known of one watched seat on its server. */
import type { InboxRead, SeatIdentity, SeatProblem } from '../types.ts';
import { Backoff } from './backoff.ts';
import { Flight } from './flight.ts';

export class SeatFeed {
  seat: SeatIdentity;
  /** Over until a session binds the seat again, or until it has another token. */
  problem: SeatProblem | null = null;
  /** The problem that was told last. */
  told: SeatProblem | null = null;
  /** A token that its server refused; no request is made with it any more. */
  deadToken: string | null = null;
  /** The token that was used last, so that another one is noticed. */
  token: string | null = null;
  /** Highest number that a read of the inbox brought. */
  lastSeen = 0;
  /** The head of its board as the stream told it. */
  head = 0;
  /** When the latest read that succeeded was sent; 0: none did. */
  readUs = 0;
  readonly reads: Flight<InboxRead>;
  readonly backoff: Backoff;
  /** Ends what is going on for the seat. */
  readonly ended = new AbortController();
  /** A read was not made because of this machine's own files. */
  missed = false;
  /** Another read after one that failed is planned already. */
  retrying = false;

  constructor(seat: SeatIdentity, random: () => number, read: (feed: SeatFeed) => Promise<InboxRead>) {
    this.seat = seat;
    this.backoff = new Backoff(random);
    this.reads = new Flight(() => read(this));
  }
}
