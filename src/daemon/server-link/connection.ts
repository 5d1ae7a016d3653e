import { ClientError } from '../../client/errors.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Answer } from '../../contract/types.ts';
import { Failure } from '../../local/failure.ts';
import { readFates } from '../bundle/fates.ts';
import {
  finalProblems,
  type InboxRead,
  type Mode,
  type Notice,
  type Origin,
  type OriginEvents,
  type Presence,
  type QueueLabel,
  SeatFailure,
  type SeatIdentity,
  type SeatRef,
  type ServerView,
} from '../types.ts';
import type { CredentialStore } from './credentials.ts';
import { isPassing, seatFailure } from './failures.ts';
import { Feed } from './feed.ts';
import { Identity } from './identity.ts';
import { readWhole } from './inbox-read.ts';
import { type CallInput, SeatCalls } from './seat-calls.ts';
import { SeatFeed } from './seat-feed.ts';
import { isNumber, requireInbox, requireNotices } from './trust.ts';
import { Wire, type World } from './wire.ts';

const PAGE = 100;
const NOTICE_PAGES = 2;

/** What others want to know of a server's stream. */
export interface OriginHooks {
  /** The person's key was refused: what was made by it has ended too. */
  keyEnded?(origin: string): void;
  /** A pairing request was made or moved. */
  pairing?(origin: string, requestId: string): void;
}

export interface ConnectionOptions {
  world: World;
  credentials: CredentialStore;
  events: OriginEvents;
  hooks?: OriginHooks;
}

export class Connection implements Origin {
  readonly url: string;
  readonly wire: Wire;
  readonly identity: Identity;
  readonly credentials: CredentialStore;
  readonly #events: OriginEvents;
  readonly #seats = new Map<string, SeatFeed>();
  readonly #feed: Feed;
  readonly #calls: SeatCalls;
  /** The server does not know notices; messages come all the same. */
  #noNotices = false;

  readonly hooks: OriginHooks;

  constructor(url: string, { world, credentials, events, hooks = {} }: ConnectionOptions) {
    this.url = url;
    this.hooks = hooks;
    this.credentials = credentials;
    this.#events = events;
    this.wire = new Wire(url, world, credentials);
    this.identity = new Identity(this.wire);
    this.#feed = new Feed(this);
    const { wire, identity } = this;
    this.#calls = new SeatCalls({
      wire,
      identity,
      credentials,
      events,
      seats: this.#seats,
      wake: () => this.#feed.wake(),
    });
  }

  get world(): World {
    return this.wire.world;
  }

  /** The seats that may still have something to give. */
  live(): SeatFeed[] {
    return [...this.#seats.values()].filter(({ problem }) => problem === null || !finalProblems.includes(problem));
  }

  get size(): number {
    return this.#seats.size;
  }

  watch(seat: SeatIdentity): void {
    const known = this.#seats.get(seat.member_id);
    if (known && !(known.problem && finalProblems.includes(known.problem))) {
      known.seat = seat;
      return;
    }
    known?.ended.abort();
    const feed = new SeatFeed(seat, this.world.random, {
      inbox: (each) => this.#readInbox(each),
      notices: (each) => this.#readNotices(each),
    });
    if (known) feed.told = known.told;
    this.#seats.set(seat.member_id, feed);
    this.refresh(feed);
    this.refreshNotices(feed);
    this.#feed.seatAdded(feed);
  }

  unwatch({ member_id: id }: SeatRef): void {
    this.#seats.get(id)?.ended.abort();
    this.#seats.delete(id);
    this.#feed.seatRemoved();
  }

  async read(
    ref: SeatRef,
    { signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<InboxRead> {
    const limits = [...(signal ? [signal] : []), ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)])];
    try {
      return await unlessAborted(this.#seat(ref).reads.run(), limits);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (limits.some(({ aborted }) => aborted)) throw new SeatFailure('request_timeout', 'The server took too long.');
      throw seatFailure(error);
    }
  }

  async ack(ref: SeatRef, upTo: number): Promise<{ cursor: number }> {
    const { cursor } = await this.#say(ref, 'ackInbox', { body: { up_to: upTo } });
    if (isNumber(cursor)) return { cursor };
    throw new SeatFailure('server_unexpected', 'The answer is no acknowledgement.');
  }

  async notices(ref: SeatRef): Promise<Notice[]> {
    return this.#seat(ref)
      .noticeReads.run()
      .catch((error: unknown) => {
        throw seatFailure(error);
      });
  }

  async ackNotices(ref: SeatRef, ids: string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += 50) {
      await this.#say(ref, 'ackNotices', { body: { ids: ids.slice(at, at + 50) } });
    }
  }

  async presence(ref: SeatRef, presence: Presence, delivery?: Mode): Promise<void> {
    await this.#say(ref, 'setPresence', { body: { presence, ...(delivery === undefined ? {} : { delivery }) } });
  }

  async location(ref: SeatRef, at: { harness: string; session_id: string; folder: string }): Promise<void> {
    await this.#say(ref, 'setLocation', { body: at });
  }

  async line(ref: SeatRef, text: string): Promise<void> {
    await this.#say(ref, 'setMyLine', { body: { kind: 'working', text, source: 'plan' } });
  }

  async queueEpoch(ref: SeatRef): Promise<{ epoch: number }> {
    return fenced(await this.#say(ref, 'getDeliveryQueue', {}));
  }

  async claimQueue(ref: SeatRef, body: QueueLabel & { expected_epoch: number }): Promise<{ epoch: number }> {
    return fenced(await this.#say(ref, 'reportDeliveryQueue', { body }));
  }

  async reportQueue(ref: SeatRef, body: Parameters<Origin['reportQueue']>[1]): Promise<void> {
    await this.#say(ref, 'reportDeliveryQueue', { body });
  }

  view(): ServerView {
    const { kind, connected, since, reconnects } = this.#feed;
    return {
      url: this.url,
      server_id: this.credentials.server(this.url)?.serverId ?? null,
      feed: this.#seats.size === 0 ? 'none' : kind,
      connected,
      since,
      ...(this.#calls.lastError === undefined ? {} : { last_error: this.#calls.lastError }),
      reconnects,
    };
  }

  async close(): Promise<void> {
    for (const feed of this.#seats.values()) feed.ended.abort();
    await this.#feed.close();
    this.wire.close();
  }

  /** Reads the seat's inbox soon; what fails for a passing reason is tried again by itself. */
  refresh(feed: SeatFeed): void {
    feed.reads.run().then(ignore, (error: unknown) => this.#retryLater(feed, error));
  }

  /** The same of its notices. */
  refreshNotices(feed: SeatFeed): void {
    if (this.#noNotices) return;
    feed.noticeReads.run().then(ignore, (error: unknown) => this.#noticesLater(feed, error));
  }

  /** Something happened to a board, or a seat on it, of which nothing more is known. */
  refreshBoard(boardId: string): void {
    for (const feed of this.live()) if (feed.seat.board_id === boardId) this.refresh(feed);
  }

  seatOf(memberId: string): SeatFeed | null {
    return this.#seats.get(memberId) ?? null;
  }

  tell(): OriginEvents {
    return this.#events;
  }

  /** One request of a seat with its own token. @throws as `SeatCalls.call` does. */
  call: SeatCalls['call'] = (feed, name, input) => this.#calls.call(feed, name, input);

  /** The server answered as it should. */
  worked(): void {
    this.#calls.worked();
  }

  /** A request or the stream failed for a passing reason. */
  failed(error: unknown): void {
    this.#calls.failed(error);
  }

  /** Another server than the pinned one answers there: nothing more is sent, and a person has to look. */
  strange(): void {
    this.world.log('server_identity_changed', { origin: this.url, server_id: this.identity.seen }, 'error');
    this.#calls.lastError = 'server_identity_changed';
    for (const feed of this.live()) this.#calls.setProblem(feed, 'server_identity_changed');
  }

  /** credentials.json has changed: seats may have other tokens, the server another identity. */
  credentialsChanged(): void {
    for (const feed of this.#seats.values()) {
      const token = this.#savedToken(feed);
      if (feed.missed && token !== null) {
        feed.missed = false;
        this.refresh(feed);
      }
      if (token !== feed.token && token !== null && feed.token !== null) {
        feed.token = token;
        this.#events.token(feed.seat);
      }
      if (feed.problem === 'unauthorized' && token !== null && token !== feed.deadToken) {
        this.#calls.setProblem(feed, null);
        this.refresh(feed);
        this.refreshNotices(feed);
        this.#feed.seatAdded(feed);
      }
    }
    if (this.live().some(({ problem }) => problem === 'server_identity_changed')) this.reconsider();
    this.#feed.wake();
  }

  /** Looks again which server is there. */
  reconsider(): void {
    this.identity.doubt();
    this.#feed.reconsidered();
    for (const feed of this.live()) {
      if (feed.problem !== 'server_identity_changed') continue;
      feed.problem = null;
      this.refresh(feed);
      this.refreshNotices(feed);
    }
  }

  #seat({ member_id: id }: SeatRef): SeatFeed {
    const feed = this.#seats.get(id);
    if (feed) return feed;
    throw new SeatFailure('seat_unknown', 'This seat is not followed.');
  }

  async #say<Name extends OperationName>(ref: SeatRef, name: Name, input: CallInput<Name>): Promise<Answer<Name>> {
    try {
      return await this.call(this.#seat(ref), name, input);
    } catch (error) {
      throw seatFailure(error);
    }
  }

  async #readInbox(feed: SeatFeed): Promise<InboxRead> {
    const sentUs = this.world.nowUs();
    const { inbox, wholeUpTo } = await readWhole(async (query) =>
      requireInbox(await this.call(feed, 'readInbox', { query: { ...query } }), feed.seat.member_id),
    );
    const fates = await readFates((name, params) => this.call(feed, name, { params }), inbox.board, inbox.messages);
    const read = { inbox, wholeUpTo, fates, sentUs, atUs: this.world.nowUs() };
    feed.readUs = sentUs;
    feed.backoff.reset();
    this.took(feed, inbox);
    this.#calls.setProblem(feed, null);
    this.#events.inbox(feed.seat, read);
    return read;
  }

  async #readNotices(feed: SeatFeed): Promise<Notice[]> {
    const notices: Notice[] = [];
    let after: string | null = null;
    // There are never more than 50.
    for (let pages = 0; pages < NOTICE_PAGES && (pages === 0 || after !== null); pages++) {
      const query = { limit: PAGE, ...(after === null ? {} : { after }) };
      const page: Answer<'listNotices'> = await this.call(feed, 'listNotices', { query });
      notices.push(...requireNotices(page.notices));
      after = page.next_after;
    }
    feed.noticeBackoff.reset();
    this.#events.notices(feed.seat, notices);
    return notices;
  }

  /** What every answer of an inbox says beside its messages. */
  took(feed: SeatFeed, inbox: InboxRead['inbox']): void {
    feed.lastSeen = Math.max(feed.lastSeen, inbox.cursor, inbox.messages.at(-1)?.seq ?? 0);
    this.#events.mode(feed.seat, inbox.delivery_mode, inbox.delivery_revision);
    this.#events.read(feed.seat, inbox.cursor);
  }

  #retryLater(feed: SeatFeed, error: unknown): void {
    // What this machine's own files stand in the way of is made good when they change.
    feed.missed ||= error instanceof Failure;
    if (!isPassing(error) || feed.ended.signal.aborted || feed.retrying) return;
    feed.retrying = true;
    const ms = feed.backoff.failed(0, error.retryAfter);
    this.world
      .sleep(ms, feed.ended.signal)
      .then(() => {
        feed.retrying = false;
        if (feed.problem === null) this.refresh(feed);
      })
      .catch(ignore);
  }

  #noticesLater(feed: SeatFeed, error: unknown): void {
    if (error instanceof ClientError && error.code === 'server_outdated') this.#noNotices = true;
    if (!isPassing(error) || feed.ended.signal.aborted || feed.noticesRetrying) return;
    feed.noticesRetrying = true;
    this.world
      .sleep(feed.noticeBackoff.failed(0, error.retryAfter), feed.ended.signal)
      .then(() => {
        feed.noticesRetrying = false;
        if (feed.problem === null) this.refreshNotices(feed);
      })
      .catch(ignore);
  }

  #savedToken(feed: SeatFeed): string | null {
    try {
      return this.credentials.token(this.url, feed.seat.member_id);
    } catch {
      return null;
    }
  }
}

/** @throws SeatFailure where the answer is none of this operation. */
function fenced({ epoch }: { epoch: number }): { epoch: number } {
  if (isNumber(epoch)) return { epoch };
  throw new SeatFailure('server_unexpected', 'The answer is no report of a queue.');
}

function unlessAborted<T>(promise: Promise<T>, signals: AbortSignal[]): Promise<T> {
  if (signals.length === 0) return promise;
  const signal = AbortSignal.any(signals);
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

const ignore = (): void => {};
