/** Live delivery: streams and waits of this process, woken by commits and ended with their credentials. */
import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import type { Query } from '../../contract/types.ts';
import { boardById } from '../boards/boards.store.ts';
import type { Clock } from '../db/clock.ts';
import { Unreachable } from '../db/dialect.ts';
import type { Database } from '../db/tx.ts';
import { authenticate, type Caller } from '../operation/caller.ts';
import type { FirstLook } from '../operation/engine.ts';
import type { Look, Outcome, Waited } from '../operation/usecase.ts';
import { Together } from './batched-waits.ts';
import { BoardStream } from './board-stream.ts';
import { Caps } from './caps.ts';
import { Connection } from './connection.ts';
import { sweepCredentials, type Watched } from './ended-credentials.ts';
import { Feed } from './feed.ts';
import type { EndReason } from './frames.ts';
import { HintStream } from './hint-stream.ts';
import { Notifier } from './notifier.ts';
import type { Holder } from './rights.ts';
import { concernOf, Sleep } from './sleep.ts';

const RECOUNT_MS = 86_400_000;
const LOOK_AGAIN_MS = 1_000;

interface Open {
  end(reason: EndReason): void;
}

/** What a stream of one board starts from, decided before its first byte. */
interface BoardStart {
  board: { id: string; name: string };
  after: number;
  head: number;
}

export class Live {
  readonly notifier = new Notifier();
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #used: (caller: Caller, now: number) => Promise<void>;
  readonly #caps = new Caps();
  readonly #together: Together;
  readonly #feeds = new Map<string, { feed: Feed; unwatch: () => void }>();
  readonly #open = new Set<Open>();
  /** All holders whose credentials are polled, because other processes may end them. */
  readonly #rechecks = new Set<Watched>();
  #stopSweep = () => {};
  #closing = false;

  /** @param used counts a use of the caller's key. */
  constructor(db: Database, clock: Clock, used: (caller: Caller, now: number) => Promise<void>) {
    this.#used = used;
    this.#db = db;
    this.#clock = clock;
    this.#together = new Together(db);
  }

  /** Starts to follow commits. Must be called before the first request. */
  start(log: Logger): Promise<void> {
    if (this.#db.dialect.shared) this.#stopSweep = sweepCredentials(this.#db, this.#clock, () => this.#rechecks);
    return this.#db.follow({
      committed: (keys) => this.notifier.publish(keys),
      watched: () => this.notifier.watched(),
      gap: (state) => {
        log.warn({ state }, 'wake-ups between server processes');
        this.notifier.publishAll();
      },
      reachable: (yes, error) => {
        if (yes) log.warn('the database can be reached again');
        else log.warn({ err: error }, 'the database cannot be reached; it is asked again until it can');
        if (yes) this.notifier.publishAll();
      },
    });
  }

  /** Opens a stream of one board on this response. @throws Refusal before anything is written. */
  openBoard(caller: Caller, start: BoardStart, query: Query<'openStream'>, res: ServerResponse): void {
    if (hasGone(res)) return;
    const release = this.#admit(caller);
    const feed = this.#feedOf(start.board.id);
    const connection = new Connection(res, this.#clock, () => void stream.tick());
    const stream: BoardStream = new BoardStream({
      db: this.#db,
      clock: this.#clock,
      feed,
      connection,
      holder: holderOf(caller),
      ...start,
      wantsMessages: query.include === 'message',
    });
    this.#track(caller, connection, release, stream, () => stream.recheck());
  }

  /** Opens a stream of hints about all boards of a person. @throws Refusal before anything is written. */
  openHints(caller: Caller, query: Query<'openStream'>, res: ServerResponse): void {
    if (hasGone(res)) return;
    const release = this.#admit(caller);
    const connection = new Connection(res, this.#clock, () => void stream.refresh());
    const stream: HintStream = new HintStream({
      db: this.#db,
      clock: this.#clock,
      connection,
      holder: holderOf(caller),
      feedOf: (boardId) => this.#feedOf(boardId),
      boards: query.boards ? new Set(query.boards) : null,
      events: query.events ? new Set(query.events) : null,
    });
    const person = caller.person.person_id;
    const unwatch = [
      this.notifier.watch([`account:${person}`, `positions:${person}`], () => void stream.refresh()),
      this.notifier.watch([`account:${person}`, 'boards'], () => stream.boardsChanged()),
      this.notifier.watch([`onboarding:${person}`], () => stream.requestsChanged()),
    ];
    connection.onClose(() => {
      for (const stop of unwatch) stop();
    });
    this.#track(caller, connection, release, stream, () => stream.refresh());
  }

  /**
   * Repeats a read that found nothing until it finds something or the time is over. It subscribes before it reads again, so nothing is missed, and
   * every wake-up leads to a fresh read with its own checks.
   * @param seconds 1 to 600. @param gone aborts when the client went away.
   */
  async wait<T>(
    caller: Caller,
    look: Look,
    { found: first, since }: FirstLook,
    { seconds, gone }: { seconds: number; gone: AbortSignal },
  ): Promise<T> {
    const again = () => this.#together.look<T>(caller.credential, look);
    if (this.#closing) return (await again()).answer;
    const { board } = first;
    const release = this.#admit(caller);
    const sleep = new Sleep(this.#clock, seconds * 1000, concernOf(caller));
    const feed = this.#feedOf(board.id);
    feed.sleepers.add(sleep);
    let { keys } = first;
    let disarm = this.#arm(first, sleep);
    const unguard = this.#guard(caller, () => sleep.wake());
    this.#open.add(sleep);
    if (gone.aborted) sleep.end();
    gone.addEventListener('abort', () => sleep.end(), { once: true });
    try {
      // Reads again before sleeping only if the board changed between the first read and the subscription. A server that is alone
      // on its database is told of every change at once.
      const told = !this.#db.dialect.shared && this.notifier.published === since;
      const moved =
        first.keys !== undefined || (!told && (await this.#patiently(sleep, () => this.#hasMoved(caller, board))));
      if (!moved) await sleep.next();
      for (;;) {
        const found = await this.#patiently(sleep, again);
        if (found && (!found.empty || sleep.over)) return found.answer;
        if (found) {
          disarm();
          disarm = this.#arm(found, sleep);
          // What changed before it was followed would be missed.
          if (found.keys && !keys) sleep.wake();
          keys = found.keys;
        }
        await sleep.next();
      }
    } finally {
      sleep.end();
      this.#open.delete(sleep);
      feed.sleepers.delete(sleep);
      this.#dropIdle(feed);
      disarm();
      unguard();
      release();
    }
  }

  /**
   * Holds a request without a caller until a read decides it or the time is over. It subscribes before it reads
   * again, so nothing is missed. Once the client has gone or the server closes there is no further read, because its result
   * may be shown only once.
   */
  async hold<T extends Outcome<unknown>>(first: T, gone: AbortSignal, look: () => Promise<T>): Promise<T> {
    if (!first.hold || this.#closing || gone.aborted) return first;
    const release = this.#caps.take(null);
    const sleep = new Sleep(this.#clock, first.hold.ms, () => true);
    const unwatch = this.notifier.watch([first.hold.key], () => sleep.wake());
    let left = false;
    const leave = (): void => {
      left = true;
      sleep.end();
    };
    const end: Open = { end: leave };
    this.#open.add(end);
    gone.addEventListener('abort', leave, { once: true });
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
      release();
    }
  }

  /** Wakes a sleep when something beside the board changes, or at a moment, until the returned function is called. */
  #arm({ keys = [], again }: Pick<Waited<unknown>, 'keys' | 'again'>, sleep: Sleep): () => void {
    const unwatch = this.notifier.watch(keys, () => sleep.wake());
    const cancel =
      again === undefined ? () => {} : this.#clock.after(Math.max(1, again - this.#clock.now()), () => sleep.wake());
    return () => {
      unwatch();
      cancel();
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
  #hasMoved(caller: Caller, board: { id: string; head: number }): Promise<boolean> {
    return this.#db.read(async (tx) => {
      await authenticate(tx, caller.credential);
      return (await boardById(tx, board.id))?.head_seq !== board.head;
    });
  }

  /** Calls `ended` once when a credential stops working, until the returned function is called. */
  watchCredential(caller: Caller, ended: () => void): () => void {
    return this.#guard(caller, () => {
      this.#fresh(caller).catch((error: unknown) => {
        if (error instanceof Refusal) ended();
      });
    });
  }

  /** Calls `recheck` when the caller's credential may have ended, until the returned function is called. */
  #guard(caller: Caller, recheck: () => void): () => void {
    const watched = { holder: holderOf(caller), recheck };
    this.#rechecks.add(watched);
    const unwatch = this.notifier.watch(credentialKeys(caller), recheck);
    const cancelExpiry = this.#atExpiry(caller, recheck);
    return () => {
      this.#rechecks.delete(watched);
      unwatch();
      cancelExpiry();
    };
  }

  /** Ends every stream and answers every wait. */
  close(): void {
    this.#closing = true;
    this.#stopSweep();
    for (const open of [...this.#open]) open.end('server_shutdown');
  }

  #admit(caller: Caller): () => void {
    if (this.#closing)
      throw new Refusal('unavailable', 'The server is shutting down.', { hint: 'Try again.', retryAfter: 1 });
    return this.#caps.take(holderOf(caller));
  }

  #track(caller: Caller, connection: Connection, release: () => void, stream: Open, recheck: () => Promise<void>) {
    this.#open.add(stream);
    const unguard = this.#guard(caller, () => void recheck());
    const cancelRecount = this.#recount(caller);
    connection.onClose(() => {
      this.#open.delete(stream);
      unguard();
      cancelRecount();
      release();
      for (const { feed } of [...this.#feeds.values()]) this.#dropIdle(feed);
    });
  }

  /** Calls `fn` when the end of key or session comes, and again when an idle key's end had moved meanwhile. */
  #atExpiry(caller: Caller, fn: () => void): () => void {
    let cancel = () => {};
    const arm = (expiresAt: number | null): void => {
      if (expiresAt === null) return;
      cancel = this.#clock.after(Math.max(expiresAt - this.#clock.now(), 0) + 1, () => {
        fn();
        this.#fresh(caller)
          .then((fresh) => arm(fresh.caller.endsAt))
          .catch(() => {});
      });
    };
    arm(caller.endsAt);
    return () => cancel();
  }

  /** A key whose only activity is one long stream must not idle out: the stream counts again every day. */
  #recount(caller: Caller): () => void {
    let cancel = () => {};
    const arm = (): void => {
      cancel = this.#clock.after(RECOUNT_MS, () => {
        arm();
        this.#fresh(caller)
          .then((fresh) => this.#used(fresh.caller, fresh.now))
          .catch(() => {});
      });
    };
    arm();
    return () => cancel();
  }

  /** The caller as it is now. @throws Refusal where the credential works no longer. */
  #fresh({ credential }: Caller): Promise<{ caller: Caller; now: number }> {
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
const hasGone = (res: ServerResponse): boolean => res.closed || res.destroyed;

const holderOf = (caller: Caller): Holder => ({ credential: caller.credential, personId: caller.person.person_id });

const credentialKeys = (caller: Caller): string[] => [
  `credential:${caller.key.key_id}`,
  `credential:${caller.person.person_id}`,
  ...(caller.seat ? [`credential:${caller.seat.member_id}`] : []),
  ...(caller.kind === 'BR' ? [`credential:${caller.session.session_id}`] : []),
];
