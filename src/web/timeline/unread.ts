/** What the person has not seen yet. The read position moves only over messages that were really shown. */
import { signal } from '@preact/signals';
import type { Answer, Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { acknowledge } from '../state/boards.ts';

const PAGE = 200;
const MOST_PAGES = 5;
const ACKNOWLEDGE_MS = 700;

/** The number of the message that begins a message's thread, or its own. */
export const rootSeqOf = (message: Message): number => message.thread_root_seq ?? message.seq;

export class Unread {
  private readonly board: string;
  /** Messages of others that were not shown yet: their numbers, with those of their threads' first messages. */
  readonly waiting = signal<ReadonlyMap<number, number>>(new Map());
  /** What waited when the person last came, shown since or not: what "new" is said of. */
  readonly fresh = signal<ReadonlyMap<number, number>>(new Map());
  /** The position when the person last came: what is after it is new. */
  readonly since = signal(Number.POSITIVE_INFINITY);
  /** Messages after the position are known up to here. */
  private known = Number.POSITIVE_INFINITY;
  private position = 0;
  private shown: number[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(board: string) {
    this.board = board;
  }

  /** Reads what is unread. */
  async open(position: number, count: number): Promise<void> {
    this.position = position;
    this.since.value = position;
    if (count === 0) return;
    await this.read();
  }

  private async read(): Promise<void> {
    let after: number | null = Number.isFinite(this.known) ? this.known : this.position;
    const found = new Map(this.waiting.peek());
    for (let page = 0; page < MOST_PAGES && after !== null; page++) {
      const query: { after: number; limit: number } = { after, limit: PAGE };
      const read: Answer<'listMessages'> = await call('listMessages', { params: { board: this.board }, query });
      for (const message of read.messages)
        if (message.sender !== 'self' && !this.shown.includes(message.seq)) found.set(message.seq, rootSeqOf(message));
      after = read.next_after;
    }
    this.known = after ?? Number.POSITIVE_INFINITY;
    this.waiting.value = found;
    this.fresh.value = new Map([...this.fresh.peek(), ...found]);
  }

  /** A message that was just posted. */
  add(message: Message): void {
    if (message.sender === 'self') return;
    this.waiting.value = new Map(this.waiting.peek()).set(message.seq, rootSeqOf(message));
  }

  /** How many messages of a thread wait; the thread's own first one apart. */
  inThread(root: number, all = false): number[] {
    const found: number[] = [];
    for (const [seq, of] of (all ? this.fresh : this.waiting).value) if (of === root && seq !== root) found.push(seq);
    return found;
  }

  /** These messages were shown. */
  show(seqs: readonly number[]): void {
    const waiting = new Map(this.waiting.peek());
    for (const seq of seqs) waiting.delete(seq);
    if (waiting.size !== this.waiting.peek().size) this.waiting.value = waiting;
    this.shown.push(...seqs.filter((seq) => seq > this.position));
    if (this.shown.length > 0) this.timer ??= setTimeout(() => this.flush(), ACKNOWLEDGE_MS);
  }

  /** Everything that this page knows of counts as shown. */
  showAll(newest: number): void {
    this.known = Number.POSITIVE_INFINITY;
    this.show([...this.waiting.peek().keys(), newest]);
    this.flush();
  }

  /** The person comes back: what came since is new, and nothing else. */
  return(): void {
    const first = Math.min(...this.waiting.peek().keys());
    if (!Number.isFinite(first)) return;
    this.since.value = first - 1;
    this.fresh.value = this.waiting.peek();
  }

  /** Moves the position to the last shown message before which all were shown. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const limit = Math.min(this.known + 1, ...this.waiting.peek().keys());
    const upTo = Math.max(0, ...this.shown.filter((seq) => seq < limit));
    if (upTo > this.position) {
      this.position = upTo;
      this.shown = this.shown.filter((seq) => seq > upTo);
      void acknowledge(this.board, upTo);
    }
    if (this.waiting.peek().size === 0 && Number.isFinite(this.known)) void this.read().catch(() => {});
  }
}
