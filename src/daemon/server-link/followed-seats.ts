/** The watched seats of one server: reads their inboxes and notices, with retries after temporary failures. */
import { EventEmitter } from 'node:events';
import type { Answer } from '../../contract/types.ts';
import { Failure } from '../../local/failure.ts';
import { readOutcomes } from '../bundle/task-outcomes.ts';
import type { SeatProblem } from '../protocol.ts';
import { isFinal, type SeatIdentity, type SeatRef } from '../refs.ts';
import { readAllPages } from './inbox-read.ts';
import { type InboxRead, isTransient, type Notice } from './link.ts';
import { type ConnectionHints, SeatCalls, type ServerLink } from './seat-calls.ts';
import { MIN_BRAKE_MS, type Reads, SeatFeed } from './seat-feed.ts';
import type { Environment } from './transport.ts';
import { requireInbox, requireNotices } from './trust.ts';

/** A braked seat is read again after this time at the latest: the machine may have slept, or its clock be wrong. */
const MAX_BRAKE_MS = 300_000;
const NOTICE_PAGE_SIZE = 100;
const MAX_NOTICE_PAGES = 2;

export class FollowedSeats {
  readonly calls: SeatCalls;
  readonly #options: ServerLink;
  readonly #environment: Environment;
  readonly #seats = new Map<string, SeatFeed>();
  /**
   * `reconnect`: the server works again or has changed, so that the pause before the next connection ends. `owner`: a
   * seat's person is known now.
   */
  readonly hints: ConnectionHints = new EventEmitter();

  constructor(options: ServerLink) {
    this.#options = options;
    this.#environment = options.transport.environment;
    this.calls = new SeatCalls({ ...options, hints: this.hints, seats: this.#seats });
  }

  get size(): number {
    return this.#seats.size;
  }

  /** The seats without a permanent problem. */
  active(): SeatFeed[] {
    return [...this.#seats.values()].filter(({ problem }) => !isFinal(problem));
  }

  get(memberId: string): SeatFeed | null {
    return this.#seats.get(memberId) ?? null;
  }

  /** A seat for a request; one that is not followed any more still has its last reports to send. */
  forRequest(ref: SeatRef): SeatFeed {
    return this.get(ref.member_id) ?? this.#newFeed({ ...ref, board_id: '', board: '', name: '' });
  }

  /** Starts to follow a seat. @param problem the one that was last reported. @returns null if it is followed already */
  add(seat: SeatIdentity, problem: SeatProblem | null): SeatFeed | null {
    const known = this.#seats.get(seat.member_id);
    if (known && !isFinal(known.problem)) {
      known.seat = seat;
      return null;
    }
    known?.ended.abort();
    const feed = this.#newFeed(seat);
    feed.reportedProblem = known ? known.reportedProblem : problem;
    this.#seats.set(seat.member_id, feed);
    this.refresh(feed);
    this.refreshNotices(feed);
    return feed;
  }

  remove(memberId: string): void {
    this.#seats.get(memberId)?.ended.abort();
    this.#seats.delete(memberId);
  }

  close(): void {
    for (const feed of this.#seats.values()) feed.ended.abort();
  }

  /** Reads the seat's inbox; retries after temporary failures. @returns the outcome of the first attempt */
  refresh(feed: SeatFeed): Promise<InboxRead> {
    const read = feed.inbox.flight.run();
    read.catch((error: unknown) => this.#retryLater(feed, feed.inbox, error, () => this.refresh(feed)));
    return read;
  }

  /** Reads the seat's notices; retries after temporary failures. */
  refreshNotices(feed: SeatFeed): void {
    feed.notices.flight.run().catch((error: unknown) => {
      this.#retryLater(feed, feed.notices, error, () => this.refreshNotices(feed));
    });
  }

  /** Reads the seats of a board that changed in an unknown way. */
  refreshBoard(boardId: string): void {
    for (const feed of this.active()) if (feed.seat.board_id === boardId) this.refresh(feed);
  }

  /** Another server answers at the address: stops all seats until a person resolves it. */
  identityChanged(): void {
    const { transport, identity } = this.#options;
    const ids = { origin: transport.origin, server_id: identity.lastServerId };
    this.#environment.log('server_identity_changed', ids, 'error');
    this.calls.lastError = 'server_identity_changed';
    for (const feed of this.active()) this.calls.setProblem(feed, 'server_identity_changed');
  }

  /** Whether another server than the pinned one answered. */
  get isIdentityChanged(): boolean {
    return this.active().some(({ problem }) => problem === 'server_identity_changed');
  }

  /** Resumes the seats that were stopped because another server answered. */
  resumeAfterIdentityChange(): void {
    this.#options.identity.invalidate();
    for (const feed of this.active()) {
      if (feed.problem !== 'server_identity_changed') continue;
      feed.problem = null;
      this.refresh(feed);
      this.refreshNotices(feed);
    }
  }

  /** Applies new tokens after credentials.json changed. @returns the seats that can be followed again */
  credentialsChanged(): SeatFeed[] {
    const revived: SeatFeed[] = [];
    for (const feed of this.#seats.values()) {
      const token = this.#savedToken(feed);
      if (feed.blockedByFiles && token !== null) {
        feed.blockedByFiles = false;
        this.refresh(feed);
        this.refreshNotices(feed);
      }
      if (token !== feed.token && token !== null && feed.token !== null) {
        feed.token = token;
        this.#options.events.emit('token', feed.seat);
      }
      if (feed.problem === 'unauthorized' && token !== null && token !== feed.refusedToken) {
        this.calls.setProblem(feed, null);
        this.refresh(feed);
        this.refreshNotices(feed);
        revived.push(feed);
      }
    }
    return revived;
  }

  #newFeed(seat: SeatIdentity): SeatFeed {
    return new SeatFeed(
      seat,
      this.#environment.random,
      (each) => this.#readInbox(each),
      (each) => this.#readNotices(each),
    );
  }

  async #readInbox(feed: SeatFeed): Promise<InboxRead> {
    const sentUs = this.#environment.nowUs();
    const page = async (query: { limit: number; after?: number; urgent?: true }) =>
      requireInbox(await this.calls.call(feed, 'readInbox', { query: { ...query } }), feed.seat.member_id);
    const { inbox, completeUpTo } = await readAllPages(page, feed.ahead);
    const outcomes = await readOutcomes(
      (name, params) => this.calls.call(feed, name, { params }),
      inbox.board,
      inbox.messages,
    );
    const read = { inbox, completeUpTo, outcomes, sentUs, atUs: this.#environment.nowUs() };
    feed.lastReadUs = sentUs;
    feed.inbox.backoff.reset();
    this.applyInbox(feed, inbox);
    this.calls.setProblem(feed, null);
    this.#options.events.emit('inbox', feed.seat, read);
    feed.braked = inbox.braked !== undefined;
    if (inbox.braked) void this.#refreshAt(feed, Date.parse(inbox.braked.until));
    else feed.overduePauseMs = MIN_BRAKE_MS;
    if (feed.owner === null) await this.#readOwner(feed);
    return read;
  }

  async #readOwner(feed: SeatFeed): Promise<void> {
    feed.owner = (await this.calls.call(feed, 'getMe', {})).owner;
    this.hints.emit('owner');
  }

  /** Reads the inbox when the seat's brake ends; less and less often after that, because this machine's clock is ahead. */
  async #refreshAt(feed: SeatFeed, at: number): Promise<void> {
    const environment = this.#environment;
    feed.brakeTimer.abort();
    feed.brakeTimer = new AbortController();
    try {
      const signal = AbortSignal.any([feed.ended.signal, feed.brakeTimer.signal]);
      const left = at - environment.now();
      await environment.sleep(Math.min(Math.max(feed.overduePauseMs, left), MAX_BRAKE_MS), signal);
      if (left <= 0) feed.overduePauseMs = Math.min(feed.overduePauseMs * 2, MAX_BRAKE_MS);
      this.refresh(feed);
    } catch {
      // The seat ended, or a new read replaced the timer.
    }
  }

  async #readNotices(feed: SeatFeed): Promise<Notice[]> {
    const notices: Notice[] = [];
    let after: string | null = null;
    // A server has at most 50 notices per seat.
    for (let pages = 0; pages < MAX_NOTICE_PAGES && (pages === 0 || after !== null); pages++) {
      const query = { limit: NOTICE_PAGE_SIZE, ...(after === null ? {} : { after }) };
      const page: Answer<'listNotices'> = await this.calls.call(feed, 'listNotices', { query });
      notices.push(...requireNotices(page.notices));
      after = page.next_after;
    }
    feed.notices.backoff.reset();
    this.#options.events.emit('notices', feed.seat, notices);
    return notices;
  }

  /** Applies the mode and cursor that every inbox answer contains. */
  applyInbox(feed: SeatFeed, inbox: InboxRead['inbox']): void {
    feed.lastSeen = Math.max(feed.lastSeen, inbox.cursor, inbox.messages.at(-1)?.seq ?? 0);
    this.#options.events.emit('mode', feed.seat, inbox.delivery_mode, inbox.delivery_revision);
    this.#options.events.emit('read', feed.seat, inbox.cursor);
  }

  #retryLater(feed: SeatFeed, reads: Reads<unknown>, error: unknown, again: () => void): void {
    // A read that failed because of this machine's files is repeated when they change.
    feed.blockedByFiles ||= error instanceof Failure;
    if (!isTransient(error) || feed.ended.signal.aborted || reads.retrying) return;
    reads.retrying = true;
    const ms = reads.backoff.nextDelay(0, error.retryAfter);
    this.#environment
      .sleep(ms, feed.ended.signal)
      .then(() => {
        reads.retrying = false;
        if (feed.problem === null) again();
      })
      .catch(() => {});
  }

  #savedToken(feed: SeatFeed): string | null {
    try {
      return this.#options.credentials.token(this.#options.transport.origin, feed.seat.member_id);
    } catch {
      return null;
    }
  }
}
