/**
 * The loaded part of a board's conversation: a range of messages and events without gaps. It grows at the end that the
 * person scrolls to and is cut at the other end, so that the document and memory stay bounded.
 */
import { batch, signal } from '@preact/signals';
import type { BoardEvent } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { listenToReturn } from '../live/link.ts';
import { least } from '../parts/number.ts';
import type { Room, RoomEvent } from '../state/room.ts';
import { readStorage, writeStorage } from '../state/storage.ts';
import { applyEvent } from './changes.ts';
import { type Entry, hasLine, lineTypes, weightOf } from './entries.ts';
import { Post, REPLIES, type Thread } from './thread.ts';
import { rootSeqOf, Unread } from './unread.ts';

const PAGE = 50;
/** The most messages in the document. */
const MAX_MESSAGES = 400;
const END = Number.POSITIVE_INFINITY;

/** Where the view scrolls to. */
export interface ScrollTarget {
  seq: number | null;
  focus: boolean;
  /** Highlights the message, because the address names it. */
  highlight: boolean;
  /** How far below the top of the view the message comes, in pixels. */
  top?: number;
}

/** Where the person was in a conversation. */
export type Spot = Pick<ScrollTarget, 'top'> & { seq: number };

interface PageQuery {
  before?: number;
  after?: number;
  newest?: true;
}

interface EntryRange {
  entries: Entry[];
  /** Everything between these event numbers is loaded. */
  low: number;
  high: number;
}

export class Timeline {
  readonly room: Room;
  readonly unread: Unread;
  readonly entries = signal<readonly Entry[]>([]);
  readonly error = signal<unknown>(null);
  readonly opened = signal(false);
  readonly atStart = signal(false);
  readonly atEnd = signal(false);
  /** The end at which more is being loaded. */
  readonly loading = signal<'older' | 'newer' | null>(null);
  readonly target = signal<ScrollTarget>({ seq: null, focus: false, highlight: false });
  /** Whether board events are shown. */
  readonly showEvents = signal(readStorage('board-events') !== 'hidden');
  private low = 0;
  private high = END;
  /** Events that arrived while a page was being loaded, and may be missing from it. */
  private pendingEvents: RoomEvent[] = [];
  private activeReads = 0;
  /** Whether the view follows new messages at the end. */
  following = true;
  /** The number of the entry or reply that is read; null: the end is. */
  reading: number | null = null;
  /** Whether reading on failed: scrolling then does not try it again. */
  stalled = false;
  /** Tries again what failed last. */
  retry: () => Promise<void> = async () => {};
  private readonly stops: (() => void)[];

  constructor(room: Room) {
    this.room = room;
    this.unread = new Unread(room.name);
    this.stops = [
      room.subscribe((roomEvent) => this.handleEvent(roomEvent)),
      room.board.subscribe((board) => this.unread.advance(board?.read_up_to ?? 0)),
      listenToReturn(() => {
        if (this.error.peek() !== null) void this.retry();
      }),
    ];
  }

  /**
   * @param at the number of the message to open at; undefined opens at the first unread message, else the newest
   * @param spot opens there instead
   */
  open(at: number | undefined, spot: Spot | null = null): Promise<void> {
    this.retry = () => this.open(at, spot);
    return this.attempt(async () => {
      const board = this.room.board.peek();
      if (!board) return;
      await this.whileReading(async () => {
        await this.unread.open(board.read_up_to ?? board.head_seq, board.unread ?? 0);
        const first = least(this.unread.unseen.peek().keys());
        if (spot) await this.moveTo(spot.seq, { focus: true, top: spot.top });
        else if (at !== undefined) await this.moveTo(at, { highlight: true, focus: true });
        else if (Number.isFinite(first)) await this.moveTo(first, { focus: true, respectClosed: true });
        else await this.moveToNewest(false);
        this.opened.value = true;
      });
    });
  }

  close(): void {
    for (const stop of this.stops) stop();
    this.unread.sendPosition();
  }

  /** Scrolls to the newest entry and loads it if needed. */
  toNewest(focus = false): Promise<void> {
    return this.attempt(() => this.moveToNewest(focus));
  }

  /** Scrolls to a message, loads it if needed and opens its thread. */
  goTo(seq: number, view: { highlight?: boolean; focus?: boolean; top?: number }): Promise<void> {
    return this.attempt(() => this.moveTo(seq, view));
  }

  /** Runs what may fail, and shows its error until something works. Nothing else does instead of opening. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      if (this.opened.peek()) this.error.value = null;
      this.stalled = false;
    } catch (error) {
      if (this.opened.peek()) this.retry = () => this.attempt(work);
      this.error.value = error;
    }
  }

  private async moveToNewest(focus: boolean): Promise<void> {
    if (!this.atEnd.peek()) await this.replace(() => this.read({ newest: true }), null);
    this.target.value = { seq: null, focus, highlight: false };
  }

  /** @throws ClientError if the message does not exist */
  private async moveTo(
    seq: number,
    view: { highlight?: boolean; focus?: boolean; respectClosed?: boolean; top?: number },
  ): Promise<void> {
    const { highlight = false, focus = false, respectClosed = false, top } = view;
    const root = this.unread.unseen.peek().get(seq) ?? this.find(seq)?.root.seq ?? (await this.rootOf(seq));
    if (!this.find(root)) await this.replace(() => this.readAround(root), root);
    const thread = seq === root ? null : (this.find(root)?.root.thread ?? null);
    if (thread) {
      if (respectClosed) thread.openUnlessClosed();
      else thread.open.value = true;
      if (thread.open.peek()) await thread.load();
      thread.scrollIntoWindow(seq);
    }
    this.target.value = { seq: thread?.open.peek() === false ? root : seq, focus, highlight, top };
  }

  /** Loads one more page at an end and cuts the other end. */
  async loadMore(end: 'older' | 'newer'): Promise<void> {
    if (this.loading.peek()) return;
    this.loading.value = end;
    await this.attempt(() => {
      this.stalled = true;
      return this.whileReading(() => this.readMore(end));
    });
    this.loading.value = null;
  }

  private async readMore(end: 'older' | 'newer'): Promise<void> {
    const older = end === 'older';
    if ((older ? this.atStart : this.atEnd).peek()) return;
    const from = older ? this.low : this.high;
    const page = await this.read(older ? { before: from, newest: true } : { after: from });
    await this.openThreads(page.entries);
    batch(() => {
      // Another part was loaded meanwhile, or this end was cut: the page no longer joins what is loaded.
      if (from !== (older ? this.low : this.high)) return;
      if (older) this.setLow(page.low);
      else this.setHigh(page.high);
      const { entries } = this;
      entries.value = older ? [...page.entries, ...entries.peek()] : [...entries.peek(), ...page.entries];
      this.cut(older ? 'end' : 'start');
    });
  }

  /** Shows or hides board events and remembers it. @param around the number of the message that stays in view */
  async setShowEvents(shown: boolean, around: number | null): Promise<void> {
    writeStorage('board-events', shown ? null : 'hidden');
    this.showEvents.value = shown;
    if (!shown) this.entries.value = this.entries.peek().filter((entry) => entry instanceof Post);
    else
      await this.attempt(() =>
        this.replace(() => (around === null ? this.read({ newest: true }) : this.readAround(around)), around),
      );
  }

  /** Finds a loaded message by number, with the first message of its thread. */
  find(seq: number): { post: Post; root: Post } | undefined {
    for (const root of this.entries.peek()) {
      if (!(root instanceof Post)) continue;
      if (root.seq === seq) return { post: root, root };
      const post = root.thread?.replies.peek().find((reply) => reply.seq === seq);
      if (post) return { post, root };
    }
    return undefined;
  }

  /** Marks everything up to the board's newest event as seen. */
  markAllSeen(): void {
    this.unread.markAllSeen(this.room.head.peek() ?? 0);
  }

  private async rootOf(seq: number): Promise<number> {
    const params = { board: this.room.name, seq };
    return rootSeqOf((await call('getMessageBySeq', { params })).message);
  }

  /** Loads a page of messages and of events, cut to the range that all of the lists cover. */
  private async read(window: PageQuery): Promise<EntryRange> {
    const params = { board: this.room.name };
    const query = { ...window, limit: PAGE };
    const kinds = this.showEvents.peek() ? lineTypes : [];
    const [posts, ...lines] = await Promise.all([
      call('listMessages', { params, query: { ...query, roots: true } }),
      ...kinds.map((types) => call('listEvents', { params, query: { ...query, type: types.join(',') } })),
    ]);
    const pages = [
      { seqs: posts.messages.map(({ seq }) => seq), ...posts },
      ...lines.map((page) => ({ ...page, seqs: page.events.map(({ seq }) => seq) })),
    ];
    const low = Math.max(
      0,
      ...pages.map(({ prev_before, seqs }) => (prev_before === null || !window.newest ? 0 : seqs[0]!)),
    );
    const high = Math.min(
      END,
      ...pages.map(({ next_after, seqs }) => (next_after === null || window.newest ? END : seqs.at(-1)!)),
    );
    const events = lines.flatMap((page): BoardEvent[] => page.events).filter(hasLine);
    this.room.names.learn(events);
    const entries: Entry[] = [
      ...posts.messages.map((message) => new Post(message)),
      ...events.map((event) => ({ seq: event.seq, event })),
    ];
    return { entries: entries.filter(({ seq }) => seq >= low && seq <= high).sort((a, b) => a.seq - b.seq), low, high };
  }

  private async readAround(seq: number): Promise<EntryRange> {
    const [before, after] = await Promise.all([
      this.read({ before: seq + 1, newest: true }),
      this.read({ after: seq }),
    ]);
    return { entries: [...before.entries, ...after.entries], low: before.low, high: after.high };
  }

  /** @param around the number of the message that is read then; null: the end */
  private replace(read: () => Promise<EntryRange>, around: number | null): Promise<void> {
    return this.whileReading(async () => {
      const { entries, low, high } = await read();
      await this.openThreads(entries);
      batch(() => {
        this.entries.value = entries;
        this.setLow(low);
        this.setHigh(high);
        this.trim(around);
      });
    });
  }

  /** Runs `work` and applies events that arrived during it afterwards. */
  private async whileReading(work: () => Promise<void>): Promise<void> {
    this.activeReads++;
    try {
      await work();
    } finally {
      this.activeReads--;
      if (this.activeReads === 0)
        for (const roomEvent of this.pendingEvents.splice(0)) {
          this.append(roomEvent);
          // The loaded messages may be older than this event.
          applyEvent(this, roomEvent.event, roomEvent.message);
        }
    }
  }

  private setLow(low: number): void {
    this.low = low;
    this.atStart.value = low === 0;
  }

  private setHigh(high: number): void {
    this.high = high;
    this.atEnd.value = high === END;
  }

  /**
   * Opens threads with unseen replies, unless the person closed them, and loads the replies of all open threads. Those of long ones,
   * which take many requests, come later.
   */
  private async openThreads(entries: readonly Entry[]): Promise<void> {
    const withNew = new Set(this.unread.unseen.peek().values());
    const loads: Promise<void>[] = [];
    for (const entry of entries) {
      if (!(entry instanceof Post) || !entry.thread) continue;
      if (this.unread.inThread(entry.seq).length > 0 && withNew.has(entry.seq)) entry.thread.openUnlessClosed();
      if (!entry.thread.open.peek()) continue;
      if ((entry.message.peek().reply_count ?? 0) <= REPLIES) loads.push(entry.thread.load());
      else void this.loadReplies(entry.thread);
    }
    await Promise.all(loads);
  }

  /** Drops entries at one end if there are too many. */
  private cut(end: 'start' | 'end'): void {
    const entries = this.entries.peek();
    let weight = 0;
    const inOrder = end === 'end' ? entries : entries.toReversed();
    const count = inOrder.findIndex((entry) => {
      weight += weightOf(entry);
      return weight > MAX_MESSAGES;
    });
    if (count <= 0) return;
    if (end === 'end') this.keep(0, count);
    else this.keep(entries.length - count, entries.length);
  }

  /**
   * Drops entries that are farthest from what is read if there are too many, also after threads grew or were opened.
   *
   * @param reading the number of what is read; null: the end
   */
  trim(reading = this.reading): void {
    const entries = this.entries.peek();
    const root = reading === null ? END : (this.find(reading)?.root.seq ?? reading);
    const at = Math.max(
      0,
      entries.findLastIndex(({ seq }) => seq <= root),
    );
    const weigh = (part: readonly Entry[]): number => part.reduce((sum, entry) => sum + weightOf(entry), 0);
    let [from, to] = [0, entries.length];
    let [before, rest] = [weigh(entries.slice(0, at)), weigh(entries.slice(at))];
    while (before + rest > MAX_MESSAGES && to - from > 1)
      if (before > rest) before -= weightOf(entries[from++]!);
      else if (to > at + 1) rest -= weightOf(entries[--to]!);
      else if (from < at) before -= weightOf(entries[from++]!);
      else break;
    this.keep(from, to);
  }

  private keep(from: number, to: number): void {
    const entries = this.entries.peek();
    if (to - from === entries.length) return;
    this.entries.value = entries.slice(from, to);
    if (to < entries.length) this.setHigh(entries[to - 1]!.seq);
    if (from > 0) this.setLow(entries[from]!.seq);
  }

  /** Opens or closes a thread as the person chose. */
  async setOpen({ thread }: Post, open: boolean): Promise<void> {
    thread?.setOpen(open);
    if (thread && open) await this.loadReplies(thread);
    else this.trim();
  }

  /** Loads the replies of a thread, and applies events that arrived during it afterwards. Keeps their number bounded. */
  async loadReplies(thread: Thread): Promise<void> {
    const arrived: RoomEvent[] = [];
    const stop = this.room.subscribe((roomEvent) => arrived.push(roomEvent));
    await thread.load();
    stop();
    for (const { event, message } of arrived) applyEvent(this, event, message);
    this.trim();
  }

  private handleEvent(roomEvent: RoomEvent): void {
    const { event, message } = roomEvent;
    batch(() => {
      if (message) this.unread.add(message);
      if (this.activeReads > 0 || !this.opened.peek()) this.pendingEvents.push(roomEvent);
      else this.append(roomEvent);
      applyEvent(this, event, message);
    });
  }

  private append({ event, message }: RoomEvent): void {
    const entries = this.entries.peek();
    const { seq } = event;
    if (!this.atEnd.peek() || seq < this.low) return;
    // Messages and events are read at different moments, so a later one may be there already.
    const before = entries.findLastIndex((entry) => entry.seq <= seq);
    if (entries[before]?.seq === seq) return;
    const isLine = !message && this.showEvents.peek() && hasLine(event);
    const entry = message?.thread_root === null ? new Post(message, true) : isLine ? { seq, event } : null;
    if (!entry) return;
    this.entries.value = entries.toSpliced(before + 1, 0, entry);
    this.trim();
  }
}
