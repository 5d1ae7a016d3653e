/** A message and its replies. Whether a thread is open is stored in this browser. */
import { computed, type Signal, signal } from '@preact/signals';
import type { Message } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { readStored, writeStorage } from '../state/storage.ts';

/** The most replies of a thread in the document. */
const MAX_VISIBLE = 60;
/** The most replies that are loaded at once. */
export const REPLIES = 200;
const MAX_REMEMBERED = 400;

const readChoices = () => new Map(readStored<[string, boolean][]>('threads', []));
/** Threads that the person opened or closed, by the id of the first message, latest last. */
let choices = readChoices();

/** A message of the conversation. */
export class Post {
  readonly seq: number;
  readonly message: Signal<Message>;
  /** Null for a reply. */
  readonly thread: Thread | null;
  /** Posted by somebody else while the conversation was open; it fades in. */
  readonly live: boolean;

  constructor(message: Message, live = false) {
    this.live = live && message.sender !== 'self';
    this.seq = message.seq;
    this.message = signal(message);
    this.thread = message.thread_root === null ? new Thread(message) : null;
  }
}

export class Thread {
  /** The first message, as it was loaded. */
  readonly root: Message;
  /** In order; complete once `loaded` is true. */
  readonly replies = signal<readonly Post[]>([]);
  readonly loaded = signal(false);
  readonly error = signal<unknown>(null);
  readonly open = signal(false);
  /** The number of the last reply that an event brought. */
  lastReply = 0;
  /** Shows all replies for printing, even if the thread is closed. */
  readonly showAll = signal(false);
  /** The index of the first visible reply. */
  readonly firstVisible = signal(0);
  readonly visible = computed(() => {
    if (this.showAll.value) return this.replies.value;
    return this.open.value
      ? this.replies.value.slice(this.firstVisible.value, this.firstVisible.value + MAX_VISIBLE)
      : [];
  });
  private loading: Promise<void> | null = null;

  constructor(root: Message) {
    this.root = root;
    this.open.value = choices.get(root.id) ?? false;
  }

  /** Opens the thread unless the person closed it. */
  openUnlessClosed(): void {
    if (choices.get(this.root.id) !== false) this.open.value = true;
  }

  /** Opens or closes the thread and remembers that as the person's choice. */
  setOpen(open: boolean): void {
    // Another tab may have stored more since.
    choices = readChoices();
    choices.delete(this.root.id);
    choices.set(this.root.id, open);
    writeStorage('threads', JSON.stringify([...choices].slice(-MAX_REMEMBERED)));
    this.open.value = open;
  }

  /** Loads the replies once. */
  load(): Promise<void> {
    if (this.loaded.peek()) return Promise.resolve();
    this.loading ??= this.read().finally(() => {
      this.loading = null;
    });
    return this.loading;
  }

  /** Moves the visible window so that it contains a reply. */
  scrollIntoWindow(seq: number): void {
    const at = this.replies.peek().findIndex((reply) => reply.seq >= seq);
    const from = this.firstVisible.peek();
    if (at >= 0 && (at < from || at >= from + MAX_VISIBLE)) this.firstVisible.value = Math.max(0, at - MAX_VISIBLE / 2);
  }

  /** Moves the visible window to earlier or later replies. */
  moveWindow(by: 1 | -1): void {
    const { length } = this.replies.peek();
    const step = (by * MAX_VISIBLE) / 2;
    this.firstVisible.value = Math.max(0, Math.min(this.firstVisible.peek() + step, length - MAX_VISIBLE));
  }

  /** Adds a reply that was just posted, if the replies are loaded or being loaded. */
  add(reply: Message): void {
    const { replies } = this;
    if (!(this.loaded.peek() || this.loading) || (replies.peek().at(-1)?.seq ?? 0) >= reply.seq) return;
    const atEnd = this.firstVisible.peek() + MAX_VISIBLE >= replies.peek().length;
    replies.value = [...replies.peek(), new Post(reply, true)];
    if (atEnd) this.firstVisible.value = Math.max(this.firstVisible.peek(), replies.peek().length - MAX_VISIBLE);
  }

  private async read(): Promise<void> {
    this.error.value = null;
    try {
      const input = { params: { message: this.root.id }, query: { limit: REPLIES } };
      const found = (await readAll('listReplies', 'replies', input)).map((reply) => new Post(reply));
      const last = found.at(-1)?.seq ?? 0;
      this.replies.value = [...found, ...this.replies.peek().filter(({ seq }) => seq > last)];
      this.firstVisible.value = Math.max(0, this.replies.peek().length - MAX_VISIBLE);
      this.loaded.value = true;
    } catch (error) {
      this.error.value = error;
    }
  }
}
