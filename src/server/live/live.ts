/** Live delivery: streams and waits of this process, woken by commits and ended with their credentials. */
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import type { Query } from '../../contract/types.ts';
import { boardById } from '../boards/boards.store.ts';
import { type Clock, repeat } from '../db/clock.ts';
import { Unreachable } from '../db/dialect.ts';
import type { Database } from '../db/tx.ts';
import type { Call } from '../operation/call.ts';
import { authenticate, type Caller, type Credential } from '../operation/caller.ts';
import type { BoardStart, Empty, Look, Opened, Outcome, Waited } from '../operation/usecase.ts';
import { BatchedWaits } from './batched-waits.ts';
import { BoardStream } from './board-stream.ts';
import { Caps } from './caps.ts';
import { Connection } from './connection.ts';
import { sweepCredentials, type Watched } from './ended-credentials.ts';
import { Feed } from './feed.ts';
import type { EndReason } from './frames.ts';
import { HintStream } from './hint-stream.ts';
import { atMost, Looks } from './looks.ts';
import { Notifier } from './notifier.ts';
import { type Holder, requireReader } from './rights.ts';
import { concernOf, Sleep } from './sleep.ts';

const RECOUNT_MS = 86_400_000;
const LOOK_AGAIN_MS = 1_000;
/** Reads of single streams at once: more would stand in the way of requests where all are woken. */
const REFRESHES = 32;
/** Changes of a board within this many milliseconds make a reader of its bytes looked at once. */
const READER_MS = 500;

interface Open {
  end(reason: EndReason): void;
}

/** What watches over a credential that something open rests on. */
interface Guard {
  watched: Watched;
  keys: readonly string[];
  recheck(): void;
  cancelExpiry: (() => void) | null;
}

export class Live {
  readonly notifier = new Notifier();
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #used: (caller: Caller, now: number) => Promise<void>;
  readonly #caps = new Caps();
  readonly #bound = atMost(REFRESHES);
  /** Reads for waits. */
  readonly looks: BatchedWaits;
  readonly #feeds = new Map<string, { feed: Feed; unwatch: () => void }>();
  readonly #open = new Set<Open>();
  /** All holders whose credentials are polled, because other processes may end them. */
  readonly #rechecks = new Set<Watched>();
  #stopSweep = () => {};
  #stopRecounts = () => {};
  #closing = false;

  /** @param used counts a use of the caller's key. */
  constructor(db: Database, clock: Clock, used: (caller: Caller, now: number) => Promise<void>, log: Logger) {
    this.#used = used;
    this.#log = log;
    this.#db = db;
    this.#clock = clock;
    this.looks = new BatchedWaits(db, () => this.notifier.published, log);
  }

  /**
   * Starts to follow commits. Must be called before the first request.
   * @param outdated called once the database is too new.
   * @param reachable called whenever the database is away, or back: then before all is read anew.
   */
  async start(outdated: (error: Error) => void, reachable: (yes: boolean) => Promise<void>): Promise<void> {
    await this.#db.follow({
      outdated,
      committed: (keys) => this.notifier.publish(keys),
      watched: () => this.notifier.watched(),
      gap: (state) => {
        this.#log.warn({ state }, 'wake-ups between server processes');
        this.notifier.publishAll();
      },
      reachable: (yes, error) => {
        if (yes) this.#log.warn('the database can be reached again');
        else this.#log.warn({ err: error }, 'the database cannot be reached; it is asked again until it can');
        void reachable(yes).then(() => yes && this.notifier.publishAll());
      },
    });
    this.#stopRecounts = repeat(this.#clock, RECOUNT_MS, () => this.#recount());
    if (this.#db.dialect.shared) this.#stopSweep = sweepCredentials(this.#db, this.#clock, () => this.#rechecks);
  }

  /** Opens a stream of one board, or of hints about all of a person's. @throws Refusal before anything is written. */
  open(caller: Caller, start: BoardStart | null, query: Query<'openStream'>, response: Opened): void {
    if (hasGone(response)) return;
    if (start) this.#openBoard(caller, start, query, response);
    else this.#openHints(caller, query, response);
  }

  #openBoard(caller: Caller, start: BoardStart, query: Query<'openStream'>, response: Opened): void {
    const holder = this.#admit(caller);
    const feed = this.#feedOf(start.board.id);
    const connection = new Connection(response, this.#clock);
    const stream = new BoardStream({
      db: this.#db,
      clock: this.#clock,
      feed,
      bound: this.#bound,
      connection,
      holder,
      ...start,
      wantsMessages: query.include === 'message',
    });
    this.#track(caller, connection, stream);
  }

  #openHints(caller: Caller, query: Query<'openStream'>, response: Opened): void {
    const holder = this.#admit(caller);
    const connection = new Connection(response, this.#clock);
    const stream = new HintStream({
      db: this.#db,
      clock: this.#clock,
      bound: this.#bound,
      connection,
      holder,
      feedOf: (boardId) => this.#feedOf(boardId),
      boards: query.boards ? new Set(query.boards) : null,
      events: query.events ? new Set(query.events) : null,
    });
    const person = caller.person.person_id;
    const unwatch = [
      this.notifier.watch([`account:${person}`, `positions:${person}`], () => stream.refresh()),
      this.notifier.watch(['boards'], () => stream.boardsChanged()),
      this.notifier.watch([`onboarding:${person}`], () => stream.requestsChanged()),
    ];
    this.#track(caller, connection, stream, unwatch);
  }

  /**
   * Repeats a look that found nothing until it finds something or the time is over. It subscribes before it looks again, so
   * nothing is missed, and every wake-up leads to a fresh read with its own checks. Thousands may wait: nothing of the first
   * look's caller and answer is kept.
   * @param seconds 1 to 600. @throws Refusal
   */
  wait(look: Look, { caller, found, since }: Empty, { seconds, gone }: { seconds: number; gone: Call['gone'] }) {
    const { credential } = caller;
    const { board, keys } = found;
    const again = async (waits: boolean): Promise<Waited<unknown>> => {
      const looked = await this.looks.look(credential, { ...look, waits });
      if (looked.found instanceof Refusal) throw looked.found;
      return looked.found;
    };
    if (this.#closing) return again(false).then(({ answer }) => answer);
    const holder = this.#admit(caller);
    const sleep = new Sleep(this.#clock, seconds * 1000, concernOf(caller));
    const feed = this.#feedOf(board.id);
    feed.sleepers.add(sleep);
    this.#open.add(sleep);
    const guard = this.#guard(caller, { holder, recheck: () => sleep.wake() });
    gone(() => sleep.end());
    const end = (): void => {
      sleep.end();
      this.#open.delete(sleep);
      feed.sleepers.delete(sleep);
      this.#dropIdle(feed);
      this.#unguard(guard);
      this.#caps.giveBack(holder);
    };
    // Reads again before sleeping only if the board changed between the first read and the subscription. A server that is alone
    // on its database is told of every change at once.
    const told = !this.#db.dialect.shared && this.notifier.published === since;
    const moved = async (): Promise<boolean> =>
      keys !== undefined || (!told && (await this.#hasMoved(credential, board)));
    return this.#lookUntilFound(sleep, again, { keys, again: found.again, moved }).finally(end);
  }

  async #lookUntilFound(
    sleep: Sleep,
    look: (waits: boolean) => Promise<Waited<unknown>>,
    { keys, again, moved }: Pick<Waited<unknown>, 'keys' | 'again'> & { moved(): Promise<boolean> },
  ): Promise<unknown> {
    let disarm = this.#arm(keys, again, sleep);
    let followed = keys !== undefined;
    try {
      if (!(await this.#patiently(sleep, moved))) await sleep.next();
      for (;;) {
        const last = sleep.over;
        const found = await this.#patiently(sleep, () => look(!last));
        if (found && (!found.empty || last)) return found.answer;
        if (found) {
          disarm?.();
          disarm = this.#arm(found.keys, found.again, sleep);
          // What changed before it was followed would be missed.
          if (found.keys && !followed) sleep.wake();
          followed = found.keys !== undefined;
        }
        await sleep.next();
      }
    } finally {
      disarm?.();
    }
  }

  /**
   * Holds a request without a caller until a read decides it or the time is over. It subscribes before it reads
   * again, so nothing is missed. Once the client has gone or the server closes there is no further read, because its result
   * may be shown only once.
   */
  async hold<T extends Outcome<unknown>>(first: T, gone: Call['gone'], look: () => Promise<T>): Promise<T> {
    if (!first.hold || this.#closing) return first;
    this.#caps.take(null);
    const sleep = new Sleep(this.#clock, first.hold.ms, () => true);
    const unwatch = this.notifier.watch([first.hold.key], () => sleep.wake());
    let left = false;
    const leave = (): void => {
      left = true;
      sleep.end();
    };
    const end: Open = { end: leave };
    this.#open.add(end);
    gone(leave);
    try {
      for (let found = first; ; await sleep.next()) {
        if (left) return found;
        const last = sleep.over;
        found = (await this.#patiently(sleep, look)) ?? found;
        if (!found.hold || last) return found;
      }
    } finally {
      sleep.end();
      this.#open.delete(end);
      unwatch();
      this.#caps.giveBack(null);
    }
  }

  /** Wakes a sleep when something beside the board changes, or after a time, until the returned function is called. */
  #arm(keys: string[] = [], again: number | undefined, sleep: Sleep): (() => void) | null {
    if (keys.length === 0 && again === undefined) return null;
    const unwatch = this.notifier.watch(keys, () => sleep.wake());
    const cancel = again === undefined ? null : this.#clock.after(again, () => sleep.wake());
    return () => {
      unwatch();
      cancel?.();
    };
  }

  /** Empty while the database is unavailable: waiting requests stay open and look again a second later. */
  async #patiently<T>(sleep: Sleep, look: () => Promise<T>): Promise<T | null> {
    const last = sleep.over;
    try {
      return await look();
    } catch (error) {
      // A read that may have committed is reported, not repeated.
      if (!(error instanceof Unreachable) || error.committing || last) throw error;
      this.#clock.after(LOOK_AGAIN_MS, () => sleep.wake());
      return null;
    }
  }

  /** Whether a board has changed since its head was read; the caller's credential is read with it. @throws Refusal */
  #hasMoved(credential: Credential, board: Waited<unknown>['board']): Promise<boolean> {
    return this.#db.read(async (tx) => {
      await authenticate(tx, credential);
      return (await boardById(tx, board.id))?.head_seq !== board.head;
    });
  }

  /** Calls `ended` when a credential stops working or its caller leaves a board, until the returned function is called. */
  watchReader(caller: Caller, boardId: string, ended: () => void): () => void {
    let watching = true;
    const look = async (): Promise<void> => {
      if (!watching) return;
      try {
        await this.#bound(() => requireReader(this.#db, caller.credential, boardId));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (watching) ended();
      }
    };
    const looks = new Looks(this.#clock, READER_MS, look);
    const recheck = (): void => void look().catch(() => looks.wake());
    const guard = this.#guard(caller, { holder: holderOf(caller), recheck });
    // Merged, since most changes of a board take nobody off it; the end of a credential is looked at without delay.
    const unwatch = this.notifier.watch([`board:${boardId}`], () => looks.wake());
    // It may have ended since the caller was read.
    recheck();
    return () => {
      watching = false;
      unwatch();
      this.#unguard(guard);
    };
  }

  /** Has a holder rechecked when the caller's credential may have ended, until it is unguarded. */
  #guard(caller: Caller, watched: Watched): Guard {
    const keys = credentialKeys(caller);
    const recheck = (): void => void watched.recheck();
    this.#rechecks.add(watched);
    this.notifier.watch(keys, recheck);
    return { watched, keys, recheck, cancelExpiry: this.#atExpiry(caller, recheck) };
  }

  #unguard({ watched, keys, recheck, cancelExpiry }: Guard): void {
    this.#rechecks.delete(watched);
    this.notifier.unwatch(keys, recheck);
    cancelExpiry?.();
  }

  /** Ends every stream and answers every wait. */
  close(): void {
    this.#closing = true;
    this.#stopSweep();
    this.#stopRecounts();
    for (const open of [...this.#open]) open.end('server_shutdown');
  }

  #admit(caller: Caller): Holder {
    if (this.#closing)
      throw new Refusal('unavailable', 'The server is shutting down.', {
        hint: 'Try again.',
        retryAfter: 1,
        expected: true,
      });
    const holder = holderOf(caller);
    this.#caps.take(holder);
    return holder;
  }

  #track(caller: Caller, connection: Connection, stream: Open & Watched, stops: readonly (() => void)[] = []): void {
    this.#open.add(stream);
    const guard = this.#guard(caller, stream);
    connection.onClose(() => {
      this.#open.delete(stream);
      for (const stop of stops) stop();
      this.#unguard(guard);
      this.#caps.giveBack(stream.holder);
      for (const { feed } of [...this.#feeds.values()]) this.#dropIdle(feed);
    });
  }

  /** Calls `fn` when the end of key or session comes, and again when an idle key's end had moved meanwhile. */
  #atExpiry({ credential, endsAt }: Caller, fn: () => void): (() => void) | null {
    if (endsAt === null) return null;
    let cancel = (): void => {};
    const arm = (expiresAt: number | null, now: number): void => {
      if (expiresAt === null) return;
      cancel = this.#clock.after(Math.max(expiresAt - now, 0) + 1, () => {
        fn();
        this.#fresh(credential)
          .then((fresh) => arm(fresh.caller.endsAt, fresh.now))
          .catch(() => {});
      });
    };
    arm(endsAt, this.#clock.now());
    return () => cancel();
  }

  /** A key whose only activity is one long stream must not idle out: what is open counts as a use every day. */
  async #recount(): Promise<void> {
    for (const { holder } of [...this.#rechecks])
      await this.#fresh(holder.credential)
        .then((fresh) => this.#used(fresh.caller, fresh.now))
        .catch(() => {});
  }

  /** The caller as it is now. @throws Refusal where the credential works no longer. */
  #fresh(credential: Credential): Promise<{ caller: Caller; now: number }> {
    return this.#db.read(async (tx) => ({ caller: await authenticate(tx, credential), now: tx.now }));
  }

  #feedOf(boardId: string): Feed {
    const known = this.#feeds.get(boardId);
    if (known) return known.feed;
    const feed = new Feed(boardId, this.#db, this.#clock);
    const unwatch = [
      this.notifier.watch([`board:${boardId}`], () => feed.wake()),
      this.notifier.watch([`presence:${boardId}`], () => feed.presences.wake()),
      () => feed.presences.stop(),
    ];
    this.#feeds.set(boardId, { feed, unwatch: () => unwatch.forEach((stop) => void stop()) });
    return feed;
  }

  #dropIdle(feed: Feed): void {
    const known = this.#feeds.get(feed.boardId);
    if (!feed.idle || known?.feed !== feed) return;
    known.unwatch();
    this.#feeds.delete(feed.boardId);
  }
}

/** The client may have left while its request was still being looked at. */
const hasGone = ({ res }: Opened): boolean => res.closed || res.destroyed;

const holderOf = (caller: Caller): Holder => ({ credential: caller.credential, personId: caller.person.person_id });

const credentialKeys = (caller: Caller): string[] => [
  `credential:${caller.key.key_id}`,
  `credential:${caller.person.person_id}`,
  ...(caller.seat ? [`credential:${caller.seat.id}`] : []),
  ...(caller.kind === 'BR' ? [`credential:${caller.session.session_id}`] : []),
];
