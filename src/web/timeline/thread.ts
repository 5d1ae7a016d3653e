/** A message, and its replies, one level deep. Whether a thread is open is remembered in this browser. */
import { computed, type Signal, signal } from '@preact/signals';
import type { Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { readStorage, writeStorage } from '../state/storage.ts';

/** Most replies of one thread that stand in the document. */
const MOST_SHOWN = 60;
const MOST_REMEMBERED = 400;

/** The person's own choices by the message's id, the latest last. */
const chosen = new Map<string, boolean>(JSON.parse(readStorage('threads') ?? '[]') as [string, boolean][]);

/** A message. Its record is replaced when something about it changes, such as its reactions. */
export class Post {
  readonly seq: number;
  readonly message: Signal<Message>;
  /** The replies; a reply has none of its own. */
  readonly thread: Thread | null;
  /** Whether somebody else posted it while the conversation was open. */
  readonly live: boolean;

  constructor(message: Message, live = false) {
    this.live = live && message.sender !== 'self';
    this.seq = message.seq;
    this.message = signal(message);
    this.thread = message.thread_root === null ? new Thread(message) : null;
  }
}

export class Thread {
  private readonly root: Message;
  /** In order; all of them once they are loaded. */
  readonly replies = signal<readonly Post[]>([]);
  readonly loaded = signal(false);
  readonly error = signal<unknown>(null);
  readonly open = signal(false);
  /** Whether all of it is shown, for paper, also when it is closed. */
  readonly whole = signal(false);
  /** The first reply that is shown, counted from the thread's beginning. */
  readonly from = signal(0);
  readonly shown = computed(() => {
    if (this.whole.value) return this.replies.value;
    return this.open.value ? this.replies.value.slice(this.from.value, this.from.value + MOST_SHOWN) : [];
  });
  private loading: Promise<void> | null = null;

  constructor(root: Message) {
    this.root = root;
    this.open.value = chosen.get(root.id) ?? false;
  }

  /** Opens the thread unless the person closed it. */
  offer(): void {
    if (chosen.get(this.root.id) !== false) this.open.value = true;
  }

  /** Opens or closes it, as the person wishes, and remembers that. */
  choose(open: boolean): Promise<void> {
    chosen.delete(this.root.id);
    chosen.set(this.root.id, open);
    writeStorage('threads', JSON.stringify([...chosen].slice(-MOST_REMEMBERED)));
    this.open.value = open;
    return open ? this.load() : Promise.resolve();
  }

  /** Reads the replies, once. */
  load(): Promise<void> {
    if (this.loaded.peek()) return Promise.resolve();
    this.loading ??= this.read().finally(() => {
      this.loading = null;
    });
    return this.loading;
  }

  /** Shows so much of the thread that this reply is in it. */
  show(seq: number): void {
    const at = this.replies.peek().findIndex((reply) => reply.seq >= seq);
    const from = this.from.peek();
    if (at >= 0 && (at < from || at >= from + MOST_SHOWN)) this.from.value = Math.max(0, at - MOST_SHOWN / 2);
  }

  /** Shows earlier or later replies. */
  move(by: 1 | -1): void {
    const { length } = this.replies.peek();
    const step = (by * MOST_SHOWN) / 2;
    this.from.value = Math.max(0, Math.min(this.from.peek() + step, length - MOST_SHOWN));
  }

  /** Takes a reply that was just posted. Without the others it is only counted. */
  add(reply: Message): void {
    const { replies } = this;
    if (!this.loaded.peek() || (replies.peek().at(-1)?.seq ?? 0) >= reply.seq) return;
    const atEnd = this.from.peek() + MOST_SHOWN >= replies.peek().length;
    replies.value = [...replies.peek(), new Post(reply, true)];
    if (atEnd) this.from.value = Math.max(this.from.peek(), replies.peek().length - MOST_SHOWN);
  }

  private async read(): Promise<void> {
    this.error.value = null;
    try {
      const found: Post[] = [];
      for (let after: number | null = 0; after !== null; ) {
        const page: { replies: Message[]; next_after: number | null } = await call('listReplies', {
          params: { message: this.root.id },
          query: { after, limit: 200 },
        });
        found.push(...page.replies.map((reply) => new Post(reply)));
        after = page.next_after;
      }
      const last = found.at(-1)?.seq ?? 0;
      this.replies.value = [...found, ...this.replies.peek().filter(({ seq }) => seq > last)];
      this.from.value = Math.max(0, found.length - MOST_SHOWN);
      this.loaded.value = true;
    } catch (error) {
      this.error.value = error;
    }
  }
}
