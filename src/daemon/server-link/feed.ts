/**
 * Follows a server: by a stream with the person's key if there is one. Seats of other people, whose modes and notices it
 * does not contain, are followed by a long poll each, and so are all without a key.
 */
import { once } from 'node:events';
import { ClientError } from '../../client/errors.ts';
import type { HintFrame } from '../../client/hint-stream.ts';
import { frameData, type SseFrame, sseFrames } from '../../client/sse.ts';
import type { AgentLine, Claim } from '../../contract/types.ts';
import { Backoff } from './backoff.ts';
import type { KnownServer } from './credentials.ts';
import type { FollowedSeats } from './followed-seats.ts';
import { Ahead } from './inbox-read.ts';
import { isTransient, SeatFailure } from './link.ts';
import { Polls } from './polls.ts';
import type { ServerLink } from './seat-calls.ts';
import type { SeatFeed } from './seat-feed.ts';
import type { Environment } from './transport.ts';
import { isMode, isNumber } from './trust.ts';

/** A refused key is tried again after this time, or when the saved key changes. */
const KEY_RETRY_MS = 300_000;
/** The subscribed events of the stream; with agents' lines also their presence. */
const STREAM_EVENTS = 'head,read,delivery,notice,pairing';
const STREAM_EVENTS_AND_LINES = `${STREAM_EVENTS},presence`;

interface FeedOptions extends ServerLink {
  seats: FollowedSeats;
}

export class Feed {
  kind: 'stream' | 'poll' | 'none' = 'none';
  connected = false;
  since: string | null = null;
  reconnects = 0;

  readonly #options: FeedOptions;
  readonly #seats: FollowedSeats;
  readonly #environment: Environment;
  readonly #backoff: Backoff;
  readonly #ended = new AbortController();
  readonly #polls: Polls;
  #running: Promise<void> | null = null;
  /** Ends the current pause. */
  #pause: AbortController | null = null;
  #stream: AbortController | null = null;
  /** Whose key it was opened with, and which. */
  #streamOf: string | null = null;
  #refusedKey: { key: string; until: number } | null = null;
  #identityChangeKnown = false;
  /** The times of the last known lines that say files, by agent; null if lines are not followed. */
  #lines: Map<string, string | null> | null = null;
  /** The stream has sent its initial events. */
  #ready = false;
  /** The person whose stream it is. */
  #person = { id: '', name: '' };
  /** The server reported that the key has ended. */
  #keyEnded = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#seats = options.seats;
    this.#environment = options.transport.environment;
    this.#backoff = new Backoff(this.#environment.random);
    this.#polls = new Polls(options.seats, this.#environment);
    options.seats.hints.on('reconnect', () => this.wake());
    options.seats.hints.on('owner', () => void this.#ownerKnown());
  }

  seatAdded(feed: SeatFeed): void {
    this.#running ??= this.#run();
    if (this.kind === 'poll') this.#polls.follow(feed);
    else this.#pollForeign();
    this.wake();
  }

  seatRemoved(): void {
    if (this.#seats.size > 0) return;
    this.#stream?.abort(new Error('no seat is left'));
    this.wake();
  }

  /** Subscribes to the lines of agents, too. */
  followLines(): void {
    if (this.#lines) return;
    this.#lines = new Map();
    this.#stream?.abort(new Error('more is asked of it'));
  }

  /** The stream does not begin with the lines that stand, so those of which nothing was reported are known by these. */
  noteClaims(claims: readonly Claim[]): void {
    for (const { member_id, since } of claims) if (!this.#lines?.has(member_id)) this.#lines?.set(member_id, since);
  }

  /** Ends a pause before the next connection. */
  wake(): void {
    this.#pause?.abort();
  }

  /** Goes on with what had to stop because of the credentials. */
  credentialsChanged(): void {
    this.#endIfReplaced();
    this.#pollForeign();
    this.wake();
  }

  /** Checks the server's identity again. */
  recheckIdentity(): void {
    this.#identityChangeKnown = false;
    this.wake();
    this.#seats.resumeAfterIdentityChange();
  }

  async close(): Promise<void> {
    this.#ended.abort(new Error('the daemon stops'));
    this.#polls.stop();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      if (this.#seats.active().length === 0) {
        this.#setState('none', false);
        await this.#sleep(Number.POSITIVE_INFINITY);
        continue;
      }
      await this.#pauseFor(await this.#connectOnce());
    }
    this.#setState('none', false);
  }

  /** Connects once. Every error leads to a retry. @returns milliseconds to pause */
  async #connectOnce(): Promise<number> {
    try {
      this.#streamOf = this.#savedKey();
      const key = await this.#key();
      return key === null ? await this.#poll() : await this.#follow(key);
    } catch (error) {
      this.#seats.calls.failed(error);
      return this.#backoff.nextDelay(0);
    }
  }

  /** Ends the stream of a key that is not the saved one any more. */
  #endIfReplaced(): void {
    if (this.#savedKey() !== this.#streamOf) this.#stream?.abort(new Error('its key was forgotten or replaced'));
  }

  /** The saved key by its id and its person's; as it was where that cannot be read. */
  #savedKey(): string | null {
    const saved = this.#saved();
    if (saved === undefined) return this.#streamOf;
    return saved?.entry.key ? `${saved.entry.person?.id} ${saved.entry.key.id}` : null;
  }

  /** What is saved of the server; null if it was forgotten, undefined if that cannot be read. */
  #saved(): KnownServer | null | undefined {
    try {
      return this.#options.credentials.server(this.#options.transport.origin);
    } catch {
      return undefined;
    }
  }

  /** The person's key; null if none can be used now. */
  async #key(): Promise<string | null> {
    const key = await this.#options.credentials.personKey(this.#options.transport.origin).catch(() => null);
    const dead = this.#refusedKey;
    return key !== null && dead !== null && dead.key === key && this.#environment.now() < dead.until ? null : key;
  }

  /** Polls every seat until a key may work. @returns milliseconds to pause */
  async #poll(): Promise<number> {
    if (!(await this.#isPinnedServer())) return this.#identityChanged();
    const known = this.#saved() !== null;
    if (known && this.kind !== 'poll')
      this.#environment.log('server_connected', { origin: this.#options.transport.origin, feed: 'poll' });
    this.#setState(known ? 'poll' : 'none', known);
    for (const feed of this.#seats.active()) this.#polls.follow(feed);
    const left = (this.#refusedKey?.until ?? 0) - this.#environment.now();
    await this.#sleep(left > 0 ? left : KEY_RETRY_MS);
    return 0;
  }

  /** Whether the pinned server answers; if no server answers, the long polls handle that. */
  async #isPinnedServer(): Promise<boolean> {
    try {
      await this.#options.identity.check();
      return true;
    } catch (error) {
      return !(error instanceof SeatFailure);
    }
  }

  /** Another server answers: sends nothing until the credentials change or the pinned server is back. */
  #identityChanged(): number {
    this.#setState('none', false);
    if (this.#identityChangeKnown) return Number.POSITIVE_INFINITY;
    this.#identityChangeKnown = true;
    this.#polls.stop();
    this.#seats.identityChanged();
    const later = this.#environment.sleep(KEY_RETRY_MS, this.#ended.signal);
    later.then(() => this.recheckIdentity()).catch(() => {});
    return Number.POSITIVE_INFINITY;
  }

  /** Follows the stream until it ends. @returns milliseconds to pause before the next connection */
  async #follow(key: string): Promise<number> {
    const environment = this.#environment;
    const stream = new AbortController();
    const signal = AbortSignal.any([stream.signal, this.#ended.signal]);
    this.#stream = stream;
    this.#endIfReplaced();
    let since: number | null = null;
    let failure: unknown = null;
    let missed = false;
    try {
      await this.#readPerson(key, signal);
      missed = true;
      const exchange = await this.#options.transport.client(key, true).openStream({
        query: { events: this.#lines ? STREAM_EVENTS_AND_LINES : STREAM_EVENTS },
        signal,
        attempt: this.#backoff.failures + 1,
      });
      since = environment.now();
      const openedUs = environment.nowUs();
      this.#connected();
      for await (const frame of sseFrames(exchange, () => {})) {
        if (signal.aborted || this.#handleFrame(frame, openedUs) === 'end') break;
        if (this.#ready) missed = false;
      }
    } catch (error) {
      failure = error;
    } finally {
      this.#stream = null;
      this.#ready = false;
      this.connected = false;
    }
    if (signal.aborted) return 0;
    this.#options.identity.invalidate();
    if (failure instanceof SeatFailure) return this.#identityChanged();
    // The server answers requests, but something on the way keeps its stream back.
    const silent = missed && failure instanceof ClientError && failure.code === 'request_timeout';
    if (silent) for (const feed of this.#seats.active()) this.#seats.refresh(feed);
    return this.#disconnected(key, since === null ? 0 : environment.now() - since, failure);
  }

  #connected(): void {
    this.#polls.stop();
    // A server that was restored from a backup may number other messages so.
    for (const feed of this.#seats.active()) feed.ahead = new Ahead();
    if (this.#backoff.failures > 0) this.reconnects++;
    this.#setState('stream', true);
    this.#seats.calls.succeeded();
    this.#environment.log('server_connected', { origin: this.#options.transport.origin, feed: 'stream' });
  }

  #disconnected(key: string, heldMs: number, failure: unknown): number {
    const environment = this.#environment;
    const reason = failure instanceof ClientError ? failure.code : failure === null ? 'closed' : 'internal';
    environment.log('server_lost', { origin: this.#options.transport.origin, reason }, 'warn');
    const status = failure instanceof ClientError ? failure.status : undefined;
    if (status !== undefined && !isTransient(failure)) {
      // The key or the stream cannot be used: the seats are polled, and each finds out whether its token still works.
      this.#refusedKey = { key, until: environment.now() + KEY_RETRY_MS };
      if (status === 401) this.#options.events.emit('keyEnded', this.#options.transport.origin);
      for (const feed of this.#seats.active()) this.#seats.refresh(feed);
      return 0;
    }
    if (failure !== null) this.#seats.calls.failed(failure);
    const pauseMs = this.#backoff.nextDelay(heldMs, failure instanceof ClientError ? failure.retryAfter : undefined);
    // Reconnects at once after an ended key, to detect that it is refused; but only the first time.
    const ended = this.#keyEnded && this.#backoff.failures === 1;
    this.#keyEnded = false;
    return ended ? 0 : pauseMs;
  }

  #handleFrame(raw: SseFrame, openedUs: number): 'end' | 'more' {
    const frame = readFrame(raw);
    const seats = this.#seats;
    const { events } = this.#options;
    switch (frame?.event) {
      case 'head':
        for (const feed of seats.active()) this.#headMoved(feed, frame.data.board_id, frame.data.seq);
        return 'more';
      case 'ready':
        // Reads each seat that was not read since the stream was opened.
        this.#ready = true;
        // Changes between two streams are not reported.
        this.#lines?.clear();
        this.#pollForeign();
        for (const feed of seats.active()) {
          if (feed.lastReadUs < Math.max(openedUs, feed.headMovedUs)) seats.refresh(feed);
          seats.refreshNotices(feed);
          if (this.#lines) events.emit('lines', feed.seat);
        }
        return 'more';
      case 'presence':
        this.#lineChanged(frame.data);
        return 'more';
      case 'read': {
        const feed = seats.get(frame.data.member_id);
        if (feed?.problem === null && isNumber(frame.data.read_up_to))
          events.emit('read', feed.seat, frame.data.read_up_to);
        return 'more';
      }
      case 'delivery': {
        const feed = seats.get(frame.data.member_id);
        const valid = isMode(frame.data.mode) && isNumber(frame.data.revision);
        if (feed?.problem === null && valid) events.emit('mode', feed.seat, frame.data.mode, frame.data.revision);
        // Its person may have released the brake.
        if (feed?.braked) seats.refresh(feed);
        return 'more';
      }
      case 'notice': {
        const feed = seats.get(frame.data.member_id);
        if (feed) seats.refreshNotices(feed);
        return 'more';
      }
      case 'pairing':
        events.emit('pairing', this.#options.transport.origin, String(frame.data['pairing_request_id']));
        return 'more';
      case 'board_unavailable':
        seats.refreshBoard(frame.data.board_id);
        return 'more';
      case 'end':
        this.#keyEnded = frame.data.reason === 'credential_ended';
        return 'end';
      default:
        return 'more';
    }
  }

  /** Presence frames contain the line; ignores frames in which it is unchanged or says no files. */
  #lineChanged({ board_id, member_id, line }: { board_id: string; member_id: string; line: AgentLine | null }): void {
    const time = line?.paths ? line.at : null;
    if (!this.#lines || (this.#lines.get(member_id) ?? null) === time) return;
    this.#lines.set(member_id, time);
    for (const { seat } of this.#seats.active())
      if (seat.board_id === board_id) this.#options.events.emit('lines', seat);
  }

  async #readPerson(key: string, signal: AbortSignal): Promise<void> {
    await this.#options.identity.check();
    const { data } = await this.#options.transport.client(key).call('getMe', { signal, maxAttempts: 1 });
    const { id, name } = this.#person;
    this.#person = data;
    // Seats tell their person by the handle alone, and a rename leaves them theirs.
    if (data.id === id) for (const feed of this.#seats.active()) if (feed.owner === name) feed.owner = data.name;
  }

  /** The person may have another handle since it was read. */
  async #ownerKnown(): Promise<void> {
    const key = this.#ready && this.#foreign().length > 0 ? await this.#key() : null;
    if (key !== null) await this.#readPerson(key, this.#ended.signal).catch(() => {});
    this.#pollForeign();
  }

  /** Polls the seats of other people than the one whose stream is open. */
  #pollForeign(): void {
    if (this.#ready) for (const feed of this.#foreign()) this.#polls.follow(feed);
  }

  #foreign(): SeatFeed[] {
    return this.#seats.active().filter(({ owner }) => owner !== null && owner !== this.#person.name);
  }

  #headMoved(feed: SeatFeed, boardId: string, seq: number): void {
    if (feed.seat.board_id !== boardId) return;
    if (!isNumber(seq) || seq === feed.head) return;
    feed.head = seq;
    if (this.#ready) this.#seats.refresh(feed);
    else feed.headMovedUs = this.#environment.nowUs();
  }

  #setState(kind: Feed['kind'], connected: boolean): void {
    if (kind !== this.kind || connected !== this.connected) {
      this.since = connected ? new Date(this.#environment.wallNow()).toISOString() : null;
    }
    this.kind = kind;
    this.connected = connected;
  }

  /** Pauses; ends early if this machine's own server starts. */
  async #pauseFor(ms: number): Promise<void> {
    if (ms <= 0) return;
    const { credentials, transport } = this.#options;
    let unwatch: (() => void) | null = null;
    try {
      unwatch = credentials.onLocalServerStart(transport.origin, () => this.wake());
    } catch {
      // An unreadable credentials file is reported elsewhere.
    }
    await this.#sleep(ms);
    unwatch?.();
  }

  async #sleep(ms: number): Promise<void> {
    const pause = new AbortController();
    this.#pause = pause;
    const signal = AbortSignal.any([pause.signal, this.#ended.signal]);
    if (ms < Number.POSITIVE_INFINITY) await this.#environment.sleep(ms, signal).catch(() => {});
    else if (!signal.aborted) await once(signal, 'abort');
    this.#pause = null;
  }
}

/** Parses a frame; null if it is not JSON. Unknown events are ignored by the caller. */
function readFrame(raw: SseFrame): HintFrame | null {
  try {
    return { event: raw.event, data: frameData(raw) } as HintFrame;
  } catch {
    return null;
  }
}
