/** One stream over all of the person's boards: their records merged by time, newest first, and kept up to date. */
import { effect, signal } from '@preact/signals';
import type { BoardEvent } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { boards, heads } from '../state/boards.ts';

export interface Entry {
  board: string;
  event: BoardEvent;
}

interface Source {
  /** Newest first. */
  events: BoardEvent[];
  /** Before which number older ones are read; null: there are none. */
  before: number | null;
  head: number;
}

const PAGE = 40;
/** Boards that are read at the same time. */
const AT_ONCE = 4;

/** Reads as long as it lives. */
export class Stream {
  /** What is known of all boards down to the oldest time that is known of each, newest first. */
  readonly entries = signal<Entry[]>([]);
  readonly more = signal(true);
  readonly error = signal<unknown>(null);
  readonly reading = signal(true);
  private readonly sources = new Map<string, Source>();
  private readonly pending = new Set<string>();
  private readonly end: () => void;
  private ended = false;

  constructor() {
    this.end = effect(() => {
      const known = heads.value;
      const own = (boards.value ?? []).filter(({ on_board }) => on_board).map(({ name }) => name);
      for (const name of this.sources.keys()) if (!own.includes(name)) this.sources.delete(name);
      const wanted = own.filter((name) => {
        const source = this.sources.get(name);
        return !source || (known.get(name) ?? 0) > source.head;
      });
      if (boards.value !== null) void this.work(wanted, (name) => this.newest(name));
    });
  }

  stop(): void {
    this.ended = true;
    this.end();
  }

  /** Reads further back, of the boards whose known part ends latest. */
  async older(): Promise<void> {
    const oldest = this.oldest();
    const due = [...this.sources].filter(
      ([, { events, before }]) => before !== null && (events.at(-1)?.at ?? '') >= oldest,
    );
    await this.work(
      due.map(([name]) => name),
      (name) => this.before(name),
    );
  }

  /** What is older than this is not known of every board. */
  private oldest(): string {
    let last = '';
    for (const { events, before } of this.sources.values()) {
      const { at = '' } = events.at(-1) ?? {};
      if (before !== null && at > last) last = at;
    }
    return last;
  }

  private async work(names: string[], read: (name: string) => Promise<void>): Promise<void> {
    const queue = names.filter((name) => !this.pending.has(name));
    for (const name of queue) this.pending.add(name);
    this.reading.value = this.pending.size > 0;
    const worker = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift())
        try {
          await read(name);
        } catch (error) {
          this.error.value = error;
        } finally {
          this.pending.delete(name);
        }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    if (this.ended) return;
    this.reading.value = this.pending.size > 0;
    this.publish();
  }

  private async newest(board: string): Promise<void> {
    const source = this.sources.get(board);
    if (!source) {
      const page = await call('listEvents', { params: { board }, query: { newest: true, limit: PAGE } });
      this.sources.set(board, { events: page.events.toReversed(), before: page.prev_before, head: page.head_seq });
      return;
    }
    for (;;) {
      const page = await call('listEvents', { params: { board }, query: { after: source.head, limit: 200 } });
      source.events.unshift(...page.events.toReversed());
      source.head = page.events.at(-1)?.seq ?? page.head_seq;
      if (page.next_after === null) return;
    }
  }

  private async before(board: string): Promise<void> {
    const source = this.sources.get(board);
    if (!source || source.before === null) return;
    const query = { newest: true, limit: PAGE, before: source.before };
    const page = await call('listEvents', { params: { board }, query });
    source.events.push(...page.events.toReversed());
    source.before = page.prev_before;
  }

  private publish(): void {
    const oldest = this.oldest();
    const all: Entry[] = [];
    for (const [board, { events }] of this.sources)
      for (const event of events) if (event.at >= oldest) all.push({ board, event });
    this.entries.value = all.toSorted((a, b) =>
      a.event.at === b.event.at ? b.event.seq - a.event.seq : a.event.at < b.event.at ? 1 : -1,
    );
    this.more.value = [...this.sources.values()].some(({ before }) => before !== null);
  }
}
