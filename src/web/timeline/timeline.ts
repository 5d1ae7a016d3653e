/**
 * The conversation of a board as far as it is loaded: a stretch of its messages and lines without a gap, which grows at
 * both ends as the person scrolls, and is cut at the far end, so that neither the document nor the memory grows without
 * end.
 */
import { batch, signal } from '@preact/signals';
import type { BoardEvent, Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { session } from '../api/session.ts';
import type { Room, RoomEvent } from '../state/room.ts';
import { readStorage, writeStorage } from '../state/storage.ts';
import { changed } from './changes.ts';
import { type Entry, hasLine, lineTypes, weightOf } from './entries.ts';
import { Post } from './thread.ts';
import { rootSeqOf, Unread } from './unread.ts';

const PAGE = 50;
/** Most messages that stand in the document. */
const MOST = 400;
const ALL = Number.POSITIVE_INFINITY;

/** Where the view goes next. `null`: to the newest. */
export interface Aim {
  seq: number | null;
  focus: boolean;
  /** The message that the address names stands out. */
  mark: boolean;
}

interface Window {
  before?: number;
  after?: number;
  newest?: true;
}

interface Stretch {
  entries: Entry[];
  /** Numbers beyond which nothing was read: below the first, above the last. */
  low: number;
  high: number;
}

export class Timeline {
  readonly room: Room;
  readonly unread: Unread;
  readonly entries = signal<readonly Entry[]>([]);
  /** Why it could not be read. */
  readonly error = signal<unknown>(null);
  readonly opened = signal(false);
  readonly atStart = signal(false);
  readonly atEnd = signal(false);
  /** Which end is being read. */
  readonly loading = signal<'older' | 'newer' | null>(null);
  readonly aim = signal<Aim>({ seq: null, focus: false, mark: false });
  /** Whether the lines of board events are shown. */
  readonly lines = signal(readStorage('board-events') !== 'hidden');
  private low = 0;
  private high = ALL;
  /** What happened while something was read, which may not be in what was read. */
  private waiting: RoomEvent[] = [];
  private reads = 0;
  /** Whether the view is at its end and goes on with it. */
  following = true;
  private readonly stop: () => void;

  constructor(room: Room) {
    this.room = room;
    this.unread = new Unread(room.name);
    this.stop = room.subscribe((roomEvent) => this.take(roomEvent));
  }

  /** @param at the number of the message to which it opens; without one the first unread, else the newest. */
  async open(at: number | undefined): Promise<void> {
    const board = this.room.board.peek();
    if (!board) return;
    this.error.value = null;
    try {
      await this.unread.open(board.read_up_to ?? board.head_seq, board.unread ?? 0);
      const first = Math.min(...this.unread.waiting.peek().keys());
      if (at !== undefined) await this.goTo(at, { mark: true, focus: true });
      else if (Number.isFinite(first)) await this.goTo(first, { focus: true, gently: true });
      else await this.toNewest();
      this.opened.value = true;
    } catch (error) {
      this.error.value = error;
    }
  }

  close(): void {
    this.stop();
    this.unread.flush();
  }

  /** Shows the newest entries. */
  async toNewest(focus = false): Promise<void> {
    if (!this.atEnd.peek()) await this.replace(() => this.read({ newest: true }));
    this.aim.value = { seq: null, focus, mark: false };
  }

  /**
   * Shows a message; that of a thread in its thread, which stays closed if `gently` and the person closed it.
   * @throws ClientError when there is no such message.
   */
  async goTo(seq: number, { mark = false, focus = false, gently = false } = {}): Promise<void> {
    const root = this.unread.waiting.peek().get(seq) ?? this.find(seq)?.root.seq ?? (await this.rootOf(seq));
    if (!this.find(root)) await this.replace(() => this.readAround(root));
    const thread = seq === root ? null : (this.find(root)?.root.thread ?? null);
    if (thread) {
      if (gently) thread.offer();
      else thread.open.value = true;
      if (thread.open.peek()) await thread.load();
      thread.show(seq);
    }
    this.aim.value = { seq: thread?.open.peek() === false ? root : seq, focus, mark };
  }

  /** Reads one page more at an end, and cuts the other one. */
  async more(end: 'older' | 'newer'): Promise<void> {
    const older = end === 'older';
    if (this.loading.peek() || (older ? this.atStart : this.atEnd).peek()) return;
    this.loading.value = end;
    await this.reading(async () => {
      const page = await this.read(older ? { before: this.low, newest: true } : { after: this.high });
      await this.openThreads(page.entries);
      batch(() => {
        if (older) this.setLow(page.low);
        else this.setHigh(page.high);
        const { entries } = this;
        entries.value = older ? [...page.entries, ...entries.peek()] : [...entries.peek(), ...page.entries];
        this.cut(older ? 'end' : 'start');
        this.loading.value = null;
        this.error.value = null;
      });
    }).catch((error) => {
      this.loading.value = null;
      this.error.value = error;
    });
  }

  /** Shows or hides the lines of board events, and remembers it. @param around the message that stays in view. */
  async showLines(shown: boolean, around: number | null): Promise<void> {
    writeStorage('board-events', shown ? null : 'hidden');
    this.lines.value = shown;
    if (!shown) this.entries.value = this.entries.peek().filter((entry) => entry instanceof Post);
    else await this.replace(() => (around === null ? this.read({ newest: true }) : this.readAround(around)));
  }

  /** The message with this number, and the first message of its thread, when they are loaded. */
  find(seq: number): { post: Post; root: Post } | undefined {
    for (const root of this.entries.peek()) {
      if (!(root instanceof Post)) continue;
      if (root.seq === seq) return { post: root, root };
      const post = root.thread?.replies.peek().find((reply) => reply.seq === seq);
      if (post) return { post, root };
    }
    return undefined;
  }

  /** Replaces the record of a message. */
  update(message: Message): void {
    const post = this.find(message.seq)?.post;
    if (post) post.message.value = message;
  }

  /** The number of the newest message that is loaded; 0 without one. */
  newest(): number {
    let newest = 0;
    for (const entry of this.entries.peek())
      if (entry instanceof Post) newest = Math.max(newest, entry.seq, entry.thread?.replies.peek().at(-1)?.seq ?? 0);
    return newest;
  }

  private async rootOf(seq: number): Promise<number> {
    const params = { board: this.room.name, seq };
    return rootSeqOf((await call('getMessageBySeq', { params })).message);
  }

  /** Reads a page of messages and of lines, as far as both are known. */
  private async read(window: Window): Promise<Stretch> {
    const params = { board: this.room.name };
    const query = { ...window, limit: PAGE };
    const kinds = this.lines.peek() ? lineTypes : [];
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
      ALL,
      ...pages.map(({ next_after, seqs }) => (next_after === null || window.newest ? ALL : seqs.at(-1)!)),
    );
    const events = lines.flatMap((page): BoardEvent[] => page.events).filter(hasLine);
    const entries: Entry[] = [
      ...posts.messages.map((message) => new Post(message)),
      ...events.map((event) => ({ seq: event.seq, event })),
    ];
    return { entries: entries.filter(({ seq }) => seq >= low && seq <= high).sort((a, b) => a.seq - b.seq), low, high };
  }

  private async readAround(seq: number): Promise<Stretch> {
    const [before, after] = await Promise.all([
      this.read({ before: seq + 1, newest: true }),
      this.read({ after: seq }),
    ]);
    return { entries: [...before.entries, ...after.entries], low: before.low, high: after.high };
  }

  private replace(read: () => Promise<Stretch>): Promise<void> {
    return this.reading(async () => {
      const { entries, low, high } = await read();
      await this.openThreads(entries);
      batch(() => {
        this.entries.value = entries;
        this.setLow(low);
        this.setHigh(high);
      });
    });
  }

  /** What happens meanwhile is added afterwards. */
  private async reading(work: () => Promise<void>): Promise<void> {
    this.reads++;
    try {
      await work();
    } finally {
      this.reads--;
      if (this.reads === 0)
        for (const roomEvent of this.waiting.splice(0)) {
          this.append(roomEvent);
          // What was read may be older than this.
          changed(this, roomEvent.event, roomEvent.message);
        }
    }
  }

  private setLow(low: number): void {
    this.low = low;
    this.atStart.value = low === 0;
  }

  private setHigh(high: number): void {
    this.high = high;
    this.atEnd.value = high === ALL;
  }

  /**
   * Threads with something new are open, unless the person closed them; open ones have their replies before they are
   * shown.
   */
  private async openThreads(entries: readonly Entry[]): Promise<void> {
    const withNew = new Set(this.unread.waiting.peek().values());
    const loads: Promise<void>[] = [];
    for (const entry of entries) {
      if (!(entry instanceof Post) || !entry.thread) continue;
      if (this.unread.inThread(entry.seq).length > 0 && withNew.has(entry.seq)) entry.thread.offer();
      if (entry.thread.open.peek()) loads.push(entry.thread.load());
    }
    await Promise.all(loads);
  }

  /** Drops entries far from what was read last. */
  private cut(end: 'start' | 'end'): void {
    const entries = this.entries.peek();
    let weight = 0;
    const inOrder = end === 'end' ? entries : entries.toReversed();
    const keptCount = inOrder.findIndex((entry) => {
      weight += weightOf(entry);
      return weight > MOST;
    });
    if (keptCount <= 0) return;
    if (end === 'end') {
      this.entries.value = entries.slice(0, keptCount);
      this.setHigh(entries[keptCount - 1]!.seq);
    } else {
      this.entries.value = entries.slice(-keptCount);
      this.setLow(entries.at(-keptCount)!.seq);
    }
  }

  private take(roomEvent: RoomEvent): void {
    const { event, message } = roomEvent;
    batch(() => {
      if (message) this.unread.add(message);
      if (this.reads > 0 || !this.opened.peek()) this.waiting.push(roomEvent);
      else this.append(roomEvent);
      changed(this, event, message);
    });
    // Who has written something sees it.
    if (message?.sender === 'self' && message.thread_root === null && document.hasFocus()) void this.toNewest();
  }

  private append({ event, message }: RoomEvent): void {
    const entries = this.entries.peek();
    if (!this.atEnd.peek() || event.seq <= (entries.at(-1)?.seq ?? 0)) return;
    if (message?.thread_root === null) this.entries.value = [...entries, new Post(message, true)];
    else if (!message && this.lines.peek() && hasLine(event))
      this.entries.value = [...entries, { seq: event.seq, event }];
    else return;
    if (entries.length > MOST) this.cut(this.following ? 'start' : 'end');
  }

  /** The name by which this person is on the board. */
  get me(): string {
    return session.peek()?.person.handle ?? '';
  }
}
