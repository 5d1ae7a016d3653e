/** The watched seats of one server: reads their inboxes and notices, again after temporary failures. */
import { EventEmitter } from 'node:events';
import { ClientError } from '../../client/errors.ts';
import type { Answer } from '../../contract/types.ts';
import { Failure } from '../../local/failure.ts';
import { readOutcomes } from '../bundle/task-outcomes.ts';
import { isFinal, type SeatIdentity } from '../refs.ts';
import type { CredentialStore } from './credentials.ts';
import { isTransient } from './failures.ts';
import type { Identity } from './identity.ts';
import { readAllPages } from './inbox-read.ts';
import type { InboxRead, Notice, ServerEvents } from './link.ts';
import { type ConnectionHints, SeatCalls } from './seat-calls.ts';
import { SeatFeed } from './seat-feed.ts';
import type { Transport } from './transport.ts';
import { requireInbox, requireNotices } from './trust.ts';

/** A timer lasts no longer. */
const MAX_TIMER_MS = 86_400_000;
const NOTICE_PAGE_SIZE = 100;
const MAX_NOTICE_PAGES = 2;

interface FollowedSeatsOptions {
  transport: Transport;
  identity: Identity;
  credentials: CredentialStore;
  events: ServerEvents;
}

export class FollowedSeats {
  readonly #options: FollowedSeatsOptions;
  readonly #seats = new Map<string, SeatFeed>();
  readonly #calls: SeatCalls;
  /** `reconnect`: the server works again or is another one, so that a pause before the next connection ends. */
  readonly hints: ConnectionHints = new EventEmitter();
  /** The server does not know notices; messages come all the same. */
  #noticesUnsupported = false;

  constructor(options: FollowedSeatsOptions) {
    this.#options = options;
    this.#calls = new SeatCalls({ ...options, hints: this.hints, seats: this.#seats });
  }

  get size(): number {
    return this.#seats.size;
  }

  get lastError(): string | undefined {
    return this.#calls.lastError;
  }

  /** The seats that may still have something to give. */
  active(): SeatFeed[] {
    return [...this.#seats.values()].filter(({ problem }) => !isFinal(problem));
  }

  get(memberId: string): SeatFeed | null {
    return this.#seats.get(memberId) ?? null;
  }

  /** Begins to follow a seat. @returns null for one that is followed already */
  add(seat: SeatIdentity): SeatFeed | null {
    const known = this.#seats.get(seat.member_id);
    if (known && !isFinal(known.problem)) {
      known.seat = seat;
      return null;
    }
    known?.ended.abort();
    const feed = new SeatFeed(seat, this.#options.transport.environment.random, {
      inbox: (each) => this.#readInbox(each),
      notices: (each) => this.#readNotices(each),
    });
    if (known) feed.reportedProblem = known.reportedProblem;
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

  /** Reads the seat's inbox soon; what fails for a passing reason is tried again by itself. */
  refresh(feed: SeatFeed): void {
    feed.reads.run().then(ignore, (error: unknown) => this.#retryLater(feed, error));
  }

  /** The same of its notices. */
  refreshNotices(feed: SeatFeed): void {
    if (this.#noticesUnsupported) return;
    feed.noticeReads.run().then(ignore, (error: unknown) => this.#retryNoticesLater(feed, error));
  }

  /** Something happened to a board, or a seat on it, of which nothing more is known. */
  refreshBoard(boardId: string): void {
    for (const feed of this.active()) if (feed.seat.board_id === boardId) this.refresh(feed);
  }

  /** One request of a seat with its own token. @throws as `SeatCalls.call` does. */
  call: SeatCalls['call'] = (feed, name, input) => this.#calls.call(feed, name, input);

  /** The server answered as it should. */
  succeeded(): void {
    this.#calls.succeeded();
  }

  /** A request or the stream failed for a passing reason. */
  failed(error: unknown): void {
    this.#calls.failed(error);
  }

  /** Another server than the pinned one answers there: nothing more is sent, and a person has to look. */
  identityChanged(): void {
    const { transport, identity } = this.#options;
    transport.environment.log(
      'server_identity_changed',
      { origin: transport.origin, server_id: identity.lastServerId },
      'error',
    );
    this.#calls.lastError = 'server_identity_changed';
    for (const feed of this.active()) this.#calls.setProblem(feed, 'server_identity_changed');
  }

  /** Whether another server than the pinned one was found there. */
  get isIdentityChanged(): boolean {
    return this.active().some(({ problem }) => problem === 'server_identity_changed');
  }

  /** Reads the seats again that stopped because another server answered. */
  resumeAfterIdentityChange(): void {
    this.#options.identity.invalidate();
    for (const feed of this.active()) {
      if (feed.problem !== 'server_identity_changed') continue;
      feed.problem = null;
      this.refresh(feed);
      this.refreshNotices(feed);
    }
  }

  /** credentials.json has changed: seats may have other tokens. @returns those that can be followed again */
  credentialsChanged(): SeatFeed[] {
    const revived: SeatFeed[] = [];
    for (const feed of this.#seats.values()) {
      const token = this.#savedToken(feed);
      if (feed.blockedByFiles && token !== null) {
        feed.blockedByFiles = false;
        this.refresh(feed);
      }
      if (token !== feed.token && token !== null && feed.token !== null) {
        feed.token = token;
        this.#options.events.emit('token', feed.seat);
      }
      if (feed.problem === 'unauthorized' && token !== null && token !== feed.refusedToken) {
        this.#calls.setProblem(feed, null);
        this.refresh(feed);
        this.refreshNotices(feed);
        revived.push(feed);
      }
    }
    return revived;
  }

  async #readInbox(feed: SeatFeed): Promise<InboxRead> {
    const sentUs = this.#options.transport.environment.nowUs();
    const { inbox, completeUpTo } = await readAllPages(async (query) =>
      requireInbox(await this.call(feed, 'readInbox', { query: { ...query } }), feed.seat.member_id),
    );
    const outcomes = await readOutcomes(
      (name, params) => this.call(feed, name, { params }),
      inbox.board,
      inbox.messages,
    );
    const read = { inbox, completeUpTo, outcomes, sentUs, atUs: this.#options.transport.environment.nowUs() };
    feed.lastReadUs = sentUs;
    feed.backoff.reset();
    this.applyInbox(feed, inbox);
    this.#calls.setProblem(feed, null);
    this.#options.events.emit('inbox', feed.seat, read);
    feed.braked = inbox.braked !== undefined;
    if (inbox.braked) void this.#refreshAt(feed, Date.parse(inbox.braked.until));
    return read;
  }

  /** Agents' messages wake the seat again from then on. */
  async #refreshAt(feed: SeatFeed, at: number): Promise<void> {
    const { environment } = this.#options.transport;
    feed.brakeTimer.abort();
    feed.brakeTimer = new AbortController();
    try {
      const signal = AbortSignal.any([feed.ended.signal, feed.brakeTimer.signal]);
      await environment.sleep(Math.min(Math.max(1_000, at - environment.now()), MAX_TIMER_MS), signal);
      this.refresh(feed);
    } catch {
      // The seat ended, or was read again.
    }
  }

  async #readNotices(feed: SeatFeed): Promise<Notice[]> {
    const notices: Notice[] = [];
    let after: string | null = null;
    // There are never more than 50.
    for (let pages = 0; pages < MAX_NOTICE_PAGES && (pages === 0 || after !== null); pages++) {
      const query = { limit: NOTICE_PAGE_SIZE, ...(after === null ? {} : { after }) };
      const page: Answer<'listNotices'> = await this.call(feed, 'listNotices', { query });
      notices.push(...requireNotices(page.notices));
      after = page.next_after;
    }
    feed.noticeBackoff.reset();
    this.#options.events.emit('notices', feed.seat, notices);
    return notices;
  }

  /** What every answer of an inbox says beside its messages. */
  applyInbox(feed: SeatFeed, inbox: InboxRead['inbox']): void {
    feed.lastSeen = Math.max(feed.lastSeen, inbox.cursor, inbox.messages.at(-1)?.seq ?? 0);
    this.#options.events.emit('mode', feed.seat, inbox.delivery_mode, inbox.delivery_revision);
    this.#options.events.emit('read', feed.seat, inbox.cursor);
  }

  #retryLater(feed: SeatFeed, error: unknown): void {
    // What this machine's own files stand in the way of is made good when they change.
    feed.blockedByFiles ||= error instanceof Failure;
    if (!isTransient(error) || feed.ended.signal.aborted || feed.retrying) return;
    feed.retrying = true;
    const ms = feed.backoff.nextDelay(0, error.retryAfter);
    this.#options.transport.environment
      .sleep(ms, feed.ended.signal)
      .then(() => {
        feed.retrying = false;
        if (feed.problem === null) this.refresh(feed);
      })
      .catch(ignore);
  }

  #retryNoticesLater(feed: SeatFeed, error: unknown): void {
    if (error instanceof ClientError && error.code === 'server_outdated') this.#noticesUnsupported = true;
    if (!isTransient(error) || feed.ended.signal.aborted || feed.noticesRetrying) return;
    feed.noticesRetrying = true;
    this.#options.transport.environment
      .sleep(feed.noticeBackoff.nextDelay(0, error.retryAfter), feed.ended.signal)
      .then(() => {
        feed.noticesRetrying = false;
        if (feed.problem === null) this.refreshNotices(feed);
      })
      .catch(ignore);
  }

  #savedToken(feed: SeatFeed): string | null {
    try {
      return this.#options.credentials.token(this.#options.transport.origin, feed.seat.member_id);
    } catch {
      return null;
    }
  }
}

const ignore = (): void => {};
