/** Tracks unseen messages. The read position moves only past messages that were seen. */
import { computed, signal } from '@preact/signals';
import type { Answer, Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { least } from '../parts/number.ts';
import { acknowledge } from '../state/boards.ts';

const PAGE = 200;
const MAX_PAGES = 5;
/** The most unseen messages that are kept as they come: those after them are loaded once they were seen. */
const MAX_UNSEEN = PAGE * MAX_PAGES;
const ACK_DELAY_MS = 700;

/** The number of the first message in a message's thread; its own if it is the first. */
export const rootSeqOf = (message: Message): number => message.thread_root_seq ?? message.seq;

/** The numbers of replies by the number of their thread's first message. */
function repliesByThread(messages: ReadonlyMap<number, number>): ReadonlyMap<number, number[]> {
  const found = new Map<number, number[]>();
  for (const [seq, root] of messages) {
    if (seq === root) continue;
    const replies = found.get(root);
    if (replies) replies.push(seq);
    else found.set(root, [seq]);
  }
  return found;
}

const none: readonly number[] = [];

export class Unread {
  private readonly board: string;
  /** Messages of others that were not seen yet: number to the number of the thread's first message. */
  readonly unseen = signal<ReadonlyMap<number, number>>(new Map());
  /** Messages that were unseen when this visit started, including those seen since; they are labelled "new". */
  readonly newSinceVisit = signal<ReadonlyMap<number, number>>(new Map());
  private readonly unseenReplies = computed(() => repliesByThread(this.unseen.value));
  private readonly newReplies = computed(() => repliesByThread(this.newSinceVisit.value));
  /** The read position when this visit started. */
  readonly since = signal(Number.POSITIVE_INFINITY);
  /** Unread messages are loaded up to this number. */
  private knownUpTo = Number.POSITIVE_INFINITY;
  private reading = false;
  private position = 0;
  private seen: number[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(board: string) {
    this.board = board;
  }

  /** Loads the unread messages. */
  async open(position: number, count: number): Promise<void> {
    this.position = position;
    this.since.value = position;
    if (count === 0) return;
    await this.read();
  }

  private async read(): Promise<void> {
    let after: number | null = this.hasMore ? this.knownUpTo : this.position;
    const found = new Map<number, number>();
    this.reading = true;
    try {
      for (let page = 0; page < MAX_PAGES && after !== null; page++) {
        const query: { after: number; limit: number } = { after, limit: PAGE };
        const read: Answer<'listMessages'> = await call('listMessages', { params: { board: this.board }, query });
        for (const message of read.messages) if (message.sender !== 'self') found.set(message.seq, rootSeqOf(message));
        after = read.next_after;
      }
    } finally {
      this.reading = false;
    }
    this.knownUpTo = after ?? Number.POSITIVE_INFINITY;
    // Others may have come or been seen meanwhile.
    for (const seq of found.keys()) if (seq <= this.position || this.seen.includes(seq)) found.delete(seq);
    this.unseen.value = new Map([...found, ...this.unseen.peek()]);
    this.newSinceVisit.value = new Map([...this.newSinceVisit.peek(), ...found]);
  }

  /** Whether there are unread messages that are not loaded yet, and so not among `unseen`. */
  get hasMore(): boolean {
    return Number.isFinite(this.knownUpTo);
  }

  /** Adds a message that was just posted. */
  add(message: Message): void {
    if (message.sender === 'self') return;
    const unseen = this.unseen.peek();
    // What is being read now may lack it, and is not read again.
    if (unseen.size >= MAX_UNSEEN - 1 && !this.reading) {
      if (this.hasMore) return;
      this.knownUpTo = message.seq;
    }
    this.unseen.value = new Map(unseen).set(message.seq, rootSeqOf(message));
  }

  /** The unseen replies in a thread; with `all`, every reply that is new in this visit. */
  inThread(root: number, all = false): readonly number[] {
    return (all ? this.newReplies : this.unseenReplies).value.get(root) ?? none;
  }

  markSeen(seqs: readonly number[]): void {
    const unseen = new Map(this.unseen.peek());
    for (const seq of seqs) unseen.delete(seq);
    if (unseen.size !== this.unseen.peek().size) this.unseen.value = unseen;
    this.seen = this.seen.concat(seqs.filter((seq) => seq > this.position));
    if (this.seen.length > 0) this.timer ??= setTimeout(() => this.sendPosition(), ACK_DELAY_MS);
  }

  /** Drops what the person read in another tab or program. */
  advance(position: number): void {
    if (position <= this.position) return;
    this.position = position;
    // What was not loaded yet is read from there on.
    this.knownUpTo = Math.max(this.knownUpTo, position);
    this.unseen.value = new Map([...this.unseen.peek()].filter(([seq]) => seq > position));
  }

  /** Marks everything up to `newest` as seen, also what is not loaded. */
  markAllSeen(newest: number): void {
    this.knownUpTo = Number.POSITIVE_INFINITY;
    this.markSeen([...this.unseen.peek().keys(), newest]);
    this.sendPosition();
  }

  /** Starts a new visit when the person returns to the tab: only messages that are unseen now are new. */
  startVisit(): void {
    const first = least(this.unseen.peek().keys());
    if (!Number.isFinite(first)) return;
    this.since.value = first - 1;
    this.newSinceVisit.value = this.unseen.peek();
  }

  /** Moves the read position to the last seen message that has no unseen one before it. */
  sendPosition(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const limit = Math.min(this.knownUpTo + 1, least(this.unseen.peek().keys()));
    const upTo = this.seen.reduce((last, seq) => (seq < limit ? Math.max(last, seq) : last), 0);
    if (upTo > this.position) {
      this.position = upTo;
      this.seen = this.seen.filter((seq) => seq > upTo);
      void acknowledge(this.board, upTo);
    }
    // Those that were just posted come after what is not loaded.
    if (this.reading || !this.hasMore || least(this.unseen.peek().keys()) <= this.knownUpTo) return;
    // Something may have been seen that is behind what was loaded.
    void this.read().then(
      () => this.sendPosition(),
      () => {},
    );
  }
}
