/**
 * What is new on one board, read once for everybody who follows it here: the events, the rights of all followers, and
 * each frame's text once per kind of reader. However many follow, a change costs at most five read statements.
 */
import { boardById, parsePolicy } from '../boards/boards.store.ts';
import type { Clock } from '../db/clock.ts';
import type { Database, ReadTx } from '../db/tx.ts';
import { type EventRow, eventsAfter } from '../record/events.store.ts';
import { audiencesOf } from '../views/event.ts';
import { Looks, MERGE_MS } from './looks.ts';
import { News, renderMessages } from './news.ts';
import { Presences } from './presences.ts';
import { type Holder, type Right, rightsOn } from './rights.ts';

/** A stream that follows a board. */
export interface Follower {
  readonly holder: Holder;
  /** Whether it wants each new message rendered too. */
  readonly wantsMessages: boolean;
  news(news: News, right: Extract<Right, { ok: true }>): void;
  lost(right: Extract<Right, { ok: false }>, boardId: string): void;
}

/** A wait that sleeps until an event concerns it. */
interface Sleeper {
  concerns(event: EventRow, data: Record<string, unknown>): boolean;
  wake(): void;
}

export class Feed {
  readonly boardId: string;
  readonly followers = new Set<Follower>();
  readonly sleepers = new Set<Sleeper>();
  readonly presences: Presences;
  readonly #db: Database;
  readonly #looks: Looks;
  /** The last number read; null until the first look. */
  #head: number | null = null;

  constructor(boardId: string, db: Database, clock: Clock) {
    this.boardId = boardId;
    this.#db = db;
    this.presences = new Presences(boardId, db, clock);
    // Nothing was handed on by a look that failed, and the head did not move: the next one tells the same.
    this.#looks = new Looks(clock, MERGE_MS, async () => {
      while (!this.idle && (await this.#lookOnce())) {
        // There is more.
      }
    });
  }

  get idle(): boolean {
    return this.followers.size === 0 && this.sleepers.size === 0;
  }

  /** Tells the feed how far a follower's read saw the board, so that the first look knows where to start. */
  startAt(seq: number): void {
    this.#head ??= seq;
  }

  /** Whether the feed has read beyond this number. */
  isBehind(seq: number): boolean {
    return this.#head !== null && this.#head > seq;
  }

  /** Something changed: look soon. */
  wake(): void {
    this.#looks.wake();
  }

  /** Answers whether another page may follow. */
  async #lookOnce(): Promise<boolean> {
    const followers = [...this.followers];
    const firstLook = this.#head === null;
    const { news, rights } = await this.#db.read((tx) => this.#readOnce(tx, followers), { shares: 'look' });
    if (news) this.#head = news.last ?? this.#head ?? news.board.head_seq;
    for (const follower of followers) this.#hand(follower, news, rights);
    this.#rouse(news, firstLook);
    if (news === null || this.#head === null) return false;
    // A follower that told meanwhile where it has read to may not have what a first look took for the past.
    return (firstLook || news.events.length > 0) && this.#head < news.board.head_seq;
  }

  async #readOnce(tx: ReadTx, followers: Follower[]): Promise<{ news: News | null; rights: Map<string, Right> }> {
    const reading = boardById(tx, this.boardId);
    const after = (head: number): Promise<EventRow[]> => eventsAfter(tx, this.boardId, head);
    const holders = followers.map((follower) => follower.holder);
    const [board, rights, news] = await Promise.all([
      reading,
      rightsOn(tx, this.boardId, reading, holders),
      this.#head === null ? null : after(this.#head),
    ]);
    if (!board) return { news: null, rights };
    const policy = parsePolicy(board);
    // A follower may have told meanwhile from where on it reads.
    const events = news ?? (await after(this.#head ?? board.head_seq));
    const readers = followers.flatMap((follower) => {
      const right = follower.wantsMessages ? rights.get(scopeOf(follower)) : undefined;
      return right?.ok ? [right.reader] : [];
    });
    const audiences = await audiencesOf(tx, policy, events);
    const messages = await renderMessages(tx, board, events, readers);
    return { news: new News({ board, policy, events, audiences, messages }), rights };
  }

  #hand(follower: Follower, news: News | null, rights: Map<string, Right>): void {
    if (!this.followers.has(follower)) return;
    const right = rights.get(scopeOf(follower));
    if (!right) return;
    if (!right.ok) follower.lost(right, this.boardId);
    else if (news) follower.news(news, right);
  }

  /** Wakes the sleepers that the events concern; all of them if it is not known which events they missed. */
  #rouse(news: News | null, all: boolean): void {
    if (this.sleepers.size === 0) return;
    const seen = (news?.events ?? []).map((event) => ({
      event,
      data: JSON.parse(event.data) as Record<string, unknown>,
    }));
    const concerned = (sleeper: Sleeper) => seen.some(({ event, data }) => sleeper.concerns(event, data));
    wakeInTurns([...this.sleepers].filter((sleeper) => all || !news || concerned(sleeper)));
  }
}

/** How many sleepers are woken in one turn of the event loop. */
const PER_TURN = 32;

/**
 * Wakes sleepers a few per turn, after the frames. SQLite answers a woken read without leaving the turn, and what was
 * written to sockets only leaves when the turn ends: a crowd woken at once would hold up every stream.
 */
function wakeInTurns(sleepers: readonly Sleeper[]): void {
  if (sleepers.length === 0) return;
  setImmediate(() => {
    for (const sleeper of sleepers.slice(0, PER_TURN)) sleeper.wake();
    wakeInTurns(sleepers.slice(PER_TURN));
  });
}

const scopeOf = (follower: Follower): string => follower.holder.credential.digest.toString('hex');
