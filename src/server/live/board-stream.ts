/** A stream in board mode: one board's events from a number on, each once and in order. */
import { Refusal } from '../../contract/errors.ts';
import { requirePlace, seeBoardById } from '../access/board-access.ts';
import type { Clock } from '../db/clock.ts';
import type { Database, ReadTx } from '../db/tx.ts';
import { authenticate } from '../operation/caller.ts';
import { actorOf } from '../record/event-data.rules.ts';
import { type EventRow, eventsAfter } from '../record/events.store.ts';
import { audiencesOf } from '../views/event.ts';
import type { Connection } from './connection.ts';
import type { Feed, Follower } from './feed.ts';
import { type EndReason, frame } from './frames.ts';
import { type Bound, Looks, MERGE_MS } from './looks.ts';
import { News, renderMessages } from './news.ts';
import { type Holder, type Right, requireReader } from './rights.ts';

interface BoardStreamOptions {
  db: Database;
  clock: Clock;
  feed: Feed;
  /** What rechecks share. */
  bound: Bound;
  connection: Connection;
  holder: Holder;
  board: { id: string; name: string };
  /** The last number the reader has. */
  after: number;
  /** The head when the stream opened: up to here is backlog, then comes `ready`. */
  head: number;
  wantsMessages: boolean;
}

export class BoardStream implements Follower {
  readonly holder: Holder;
  readonly wantsMessages: boolean;
  readonly #options: BoardStreamOptions;
  #cursor: number;
  #ready = false;
  #pumping = false;
  /** Made when it is needed, as most streams are idle all their life. */
  #rechecks: Looks | null = null;
  /** The retry that is scheduled for when the database can be read. */
  #cancelPump: (() => void) | null = null;
  #cancelBrake: (() => void) | null = null;
  /** Something waits because agents' messages do not wake the seat. */
  #braked = false;
  /** Behind the cursor up to here all are agents' messages, as far as it was looked at. */
  #quietUpTo = 0;
  /** Nothing brakes the seat since the page that is being read was begun. */
  #released = false;

  constructor(options: BoardStreamOptions) {
    this.#options = options;
    this.holder = options.holder;
    this.wantsMessages = options.wantsMessages;
    this.#cursor = options.after;
    options.feed.followers.add(this);
    options.connection.serve(this);
    void this.pump();
  }

  drained(): Promise<void> {
    return this.pump();
  }

  closed(): void {
    this.#cancelPump?.();
    this.#cancelBrake?.();
    this.#options.feed.followers.delete(this);
  }

  /** New events, read once for all followers. A follower that is behind or whose buffer is full reads from its own cursor. */
  news(news: News, { reader, brakedMs }: Extract<Right, { ok: true }>): void {
    this.#released = brakedMs <= 0;
    if (this.#braked && this.#released) return void this.pump();
    const { first, last } = news;
    // A look that had begun before this followed told it nothing of what it read.
    if (first === null && this.#options.feed.isBehind(this.#cursor)) return void this.pump();
    if (first === null || last === null || last <= this.#cursor || this.#pumping) return;
    if (!this.#ready || first > this.#cursor + 1 || this.#options.connection.congested) {
      void this.pump();
      return;
    }
    if (this.#isBraked(brakedMs, news.events)) return;
    this.#options.connection.write(news.framesAfter(Math.max(this.#cursor, first - 1), reader, this.wantsMessages));
    this.#cursor = last;
  }

  lost({ reason }: Extract<Right, { ok: false }>): void {
    this.end(reason);
  }

  end(reason: EndReason): void {
    this.#options.feed.followers.delete(this);
    this.#options.connection.end(reason);
  }

  /** Checks again whether the reader may still follow. Separate from reading, because a full or busy stream does not read. */
  recheck(): void {
    const { clock, bound } = this.#options;
    this.#rechecks ??= new Looks(clock, MERGE_MS, () => bound(() => this.#recheck()));
    this.#rechecks.wake();
  }

  async #recheck(): Promise<void> {
    const { db, connection, board } = this.#options;
    if (!connection.open) return;
    try {
      await requireReader(db, this.holder.credential, board.id);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#fail(error);
    }
  }

  /** Now and then: reads what was missed, which checks the reader's rights too. A full or busy stream only checks them. */
  tick(): void {
    if (this.#pumping || this.#options.connection.congested) this.recheck();
    else void this.pump();
  }

  /** Reads and writes pages from the cursor until there is nothing more or the reader is full. */
  async pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      const { connection } = this.#options;
      // Asked in the turn in which the reading ends: what the feed has before that is left to this.
      for (let more = () => true; connection.open && !connection.congested && more(); ) more = await this.#page();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#pumping = false;
    }
  }

  /** Answers what tells whether another page may follow. */
  async #page(): Promise<() => boolean> {
    const { db, board, connection, feed } = this.#options;
    this.#released = false;
    const { bytes, last, head, braked } = await db.read(async (tx) => {
      const caller = await authenticate(tx, this.holder.credential);
      const place = requirePlace(await seeBoardById(tx, caller, board.id));
      const events = await eventsAfter(tx, board.id, this.#cursor);
      const head = place.board.head_seq;
      const brakedMs = caller.seat === null ? 0 : (place.member.braked_until ?? 0) - tx.now;
      if (this.#isBraked(brakedMs, events) && !(await this.#wakesBehind(tx, events, head)))
        return { bytes: Buffer.alloc(0), last: null, head, braked: true };
      const readers = this.wantsMessages ? [place.reader] : [];
      const messages = await renderMessages(tx, place.board, events, readers);
      const audiences = await audiencesOf(tx, place.policy, events);
      const page = new News({ ...place, events, audiences, messages });
      return {
        bytes: page.framesAfter(this.#cursor, place.reader, this.wantsMessages),
        last: page.last,
        head,
        braked: false,
      };
    });
    if (bytes.length > 0) connection.write(bytes);
    if (last !== null) this.#cursor = last;
    this.#announceReady(braked);
    // Up to the head it is read here: the feed does not read all of it again.
    feed.startAt(head);
    if (braked) return () => this.#released;
    return () => (last !== null && last < head) || feed.isBehind(head);
  }

  /** Whether these events have to wait: agents' messages alone, while they do not wake the seat. They come when the pause ends. */
  #isBraked(ms: number, events: readonly EventRow[]): boolean {
    this.#braked = ms > 0 && events.length > 0 && events.every(isAgentsMessage);
    if (!this.#braked) return false;
    this.#cancelBrake?.();
    this.#cancelBrake = this.#options.clock.after(ms + 1, () => void this.pump());
    return true;
  }

  /** Whether anything else comes behind a page of agents' messages: then all that waits before it is sent too. */
  async #wakesBehind(tx: ReadTx, events: readonly EventRow[], head: number): Promise<boolean> {
    this.#quietUpTo = Math.max(this.#quietUpTo, events.at(-1)?.seq ?? 0);
    while (this.#quietUpTo < head) {
      const page = await eventsAfter(tx, this.#options.board.id, this.#quietUpTo);
      if (!page.every(isAgentsMessage)) return true;
      this.#quietUpTo = page.at(-1)?.seq ?? head;
    }
    return false;
  }

  /** @param anyway what is missing of the backlog has to wait. */
  #announceReady(anyway: boolean): void {
    const { connection, board, head } = this.#options;
    if (this.#ready || (this.#cursor < head && !anyway)) return;
    this.#ready = true;
    connection.write(frame('ready', { board: board.name, board_id: board.id, head_seq: this.#cursor }, this.#cursor));
  }

  #fail(error: unknown): void {
    if (error instanceof Refusal) {
      this.end(error.status === 401 || error.code === 'agent_removed' ? 'credential_ended' : 'board_unavailable');
      return;
    }
    // The database could not be read now; the reader keeps its place and is served at the next wake-up.
    this.#cancelPump?.();
    this.#cancelPump = this.#options.clock.after(1_000, () => void this.pump());
  }
}

const isAgentsMessage = ({ type, actor }: EventRow): boolean =>
  type === 'message.posted' && actorOf({ actor }).kind === 'agent';
