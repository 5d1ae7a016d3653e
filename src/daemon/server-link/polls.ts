/** Long polls of seats that no stream covers: one per seat, at most 32 at a time. */
import { MIN_POLL_GAP } from '../../client/limits.ts';
import { wakesAgent } from '../../contract/waking.ts';
import type { FollowedSeats } from './followed-seats.ts';
import { MAX_WAITS } from './http.ts';
import { Ahead } from './inbox-read.ts';
import { type InboxRead, isTransient } from './link.ts';
import type { SeatFeed } from './seat-feed.ts';
import { Semaphore } from './semaphore.ts';
import type { Environment } from './transport.ts';
import { requireInbox } from './trust.ts';

const WAIT_SECONDS = 50;
/** So many waits with what wakes the agent, which a busy session does not acknowledge, follow one another soon. */
const MAX_SOON = 12;
/** The gap between later ones. */
const UNACKNOWLEDGED_GAP = 25_000;

export class Polls {
  readonly #seats: FollowedSeats;
  readonly #environment: Environment;
  readonly #following = new Map<SeatFeed, AbortController>();
  readonly #slots = new Semaphore(MAX_WAITS);

  constructor(seats: FollowedSeats, environment: Environment) {
    this.#seats = seats;
    this.#environment = environment;
  }

  /** Polls the seat's inbox until the seat ends or `stop` is called. */
  follow(feed: SeatFeed): void {
    if (this.#following.has(feed) || feed.ended.signal.aborted) return;
    const stopped = new AbortController();
    this.#following.set(feed, stopped);
    const signal = AbortSignal.any([stopped.signal, feed.ended.signal]);
    void this.#loop(feed, signal).finally(() => {
      if (this.#following.get(feed) === stopped) this.#following.delete(feed);
    });
  }

  stop(): void {
    for (const stopped of this.#following.values()) stopped.abort();
    this.#following.clear();
  }

  async #loop(feed: SeatFeed, signal: AbortSignal): Promise<void> {
    const { now, sleep } = this.#environment;
    let acknowledged = 0;
    let unacknowledged = 0;
    while (!signal.aborted) {
      const started = now();
      let pauseMs = 0;
      try {
        const inbox = await this.#wait(feed, signal);
        feed.inbox.backoff.reset();
        if (inbox.cursor > acknowledged) unacknowledged = 0;
        if (hasWakingAgent(inbox)) unacknowledged++;
        acknowledged = inbox.cursor;
        // A server that shuts down answers early and empty. And one brakes a seat after 40 answers in ten minutes with what
        // other agents wake it by, if it has acknowledged nothing meanwhile.
        pauseMs = started + (unacknowledged > MAX_SOON ? UNACKNOWLEDGED_GAP : MIN_POLL_GAP) - now();
      } catch (error) {
        // Waits again for messages that could not be read, or that a restored server numbers anew.
        feed.lastSeen = 0;
        feed.ahead = new Ahead();
        if (signal.aborted || !isTransient(error)) return;
        pauseMs = feed.inbox.backoff.nextDelay(0, error.retryAfter);
      }
      if (pauseMs > 0) await sleep(pauseMs, signal).catch(() => {});
    }
  }

  /** One long poll, then a read of the notices, which the inbox does not contain. */
  async #wait(feed: SeatFeed, signal: AbortSignal): Promise<InboxRead['inbox']> {
    const release = await this.#slots.acquire(signal);
    let inbox: InboxRead['inbox'];
    try {
      const query = { after: feed.lastSeen, wait: WAIT_SECONDS };
      const answer = await this.#seats.calls.call(feed, 'readInbox', { query, signal, slow: true });
      inbox = requireInbox(answer, feed.seat.member_id);
      this.#seats.applyInbox(feed, inbox);
      // Its person may have released the brake.
      const released = feed.braked && inbox.braked === undefined;
      if (inbox.messages.length > 0 || released) await feed.inbox.flight.run();
    } finally {
      release();
    }
    this.#seats.refreshNotices(feed);
    return inbox;
  }
}

/** Whether an agent's message in it wakes the seat. */
const hasWakingAgent = ({ messages, member_id: id, agent: name, delivery_mode: mode, braked }: InboxRead['inbox']) =>
  messages.some(
    (one) => one.from.kind === 'agent' && wakesAgent(one, { id, name, mode, braked: braked !== undefined }),
  );
