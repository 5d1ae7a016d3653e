/** The merged events of all of the person's boards, newest first, updated live. */
import { computed, effect, signal, untracked } from '@preact/signals';
import type { BoardEvent } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { listenToReturn } from '../live/link.ts';
import { boards, heads } from '../state/boards.ts';
import { Throttle } from '../state/throttle.ts';
import { Names } from './names.ts';

export interface Entry {
  board: string;
  event: BoardEvent;
}

interface Source {
  /** Newest first. */
  events: BoardEvent[];
  /** Older events are before this number; null: there are none. */
  loadBefore: number | null;
  head: number;
  /** How many events are kept when newer ones come. */
  kept: number;
}

const PAGE = 40;
/** How many newer events of a board are kept besides those that the person asked for. */
const KEPT = 500;
/** How many boards are loaded in parallel. */
const CONCURRENCY = 4;

/** Loads and merges events until `stop`. */
export class Stream {
  /** Newest first, down to the time from which all boards are loaded. */
  readonly entries = signal<Entry[]>([]);
  readonly hasMore = signal(true);
  readonly names = new Names();
  /** Why boards could not be read the last time, by name. */
  private readonly errors = signal<ReadonlyMap<string, unknown>>(new Map());
  readonly error = computed((): unknown => this.errors.value.values().next().value ?? null);
  readonly loading = signal(true);
  private readonly sources = new Map<string, Source>();
  private readonly pending = new Set<string>();
  /** Boards with new events since their pending read began. */
  private readonly missed = new Set<string>();
  readonly stop: () => void;
  private stopped = false;

  constructor() {
    const throttle = new Throttle(() => this.loadNew());
    const stopEffect = effect(() => {
      const first = this.sources.size + this.pending.size === 0;
      if (boards.value && heads.value && first) untracked(() => this.loadNew());
      else throttle.schedule();
    });
    const stopReturn = listenToReturn(() => {
      if (this.error.peek() !== null) void this.retry();
    });
    this.stop = () => {
      this.stopped = true;
      stopEffect();
      throttle.cancel();
      stopReturn();
    };
  }

  /** Loads after an error, also boards of which nothing is loaded. */
  async retry(): Promise<void> {
    this.loadNew();
    await this.loadOlder();
  }

  private loadNew(): void {
    const known = heads.value;
    const own = (boards.value ?? []).filter(({ on_board }) => on_board).map(({ name }) => name);
    for (const name of this.sources.keys()) if (!own.includes(name)) this.sources.delete(name);
    for (const name of this.errors.peek().keys()) if (!own.includes(name)) this.setError(name, null);
    const wanted = own.filter((name) => {
      const source = this.sources.get(name);
      return !source || (known.get(name) ?? 0) > source.head;
    });
    for (const name of wanted) if (this.pending.has(name)) this.missed.add(name);
    if (boards.value !== null) void this.loadBoards(wanted, (name) => this.loadNewest(name));
  }

  /** Loads older events of the boards that are loaded least far back. */
  async loadOlder(): Promise<void> {
    const completeSince = this.oldest();
    const due = [...this.sources].filter(
      ([, { events, loadBefore }]) => loadBefore !== null && (events.at(-1)?.at ?? '') >= completeSince,
    );
    await this.loadBoards(
      due.map(([name]) => name),
      (name) => this.before(name),
    );
  }

  /** From this time on, all boards are completely loaded. */
  private oldest(): string {
    let last = '';
    for (const { events, loadBefore } of this.sources.values()) {
      const { at = '' } = events.at(-1) ?? {};
      if (loadBefore !== null && at > last) last = at;
    }
    return last;
  }

  private async loadBoards(names: string[], read: (name: string) => Promise<void>): Promise<void> {
    const queue = names.filter((name) => !this.pending.has(name));
    for (const name of queue) this.pending.add(name);
    this.loading.value = this.pending.size > 0;
    const worker = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift())
        try {
          await read(name);
          this.setError(name, null);
        } catch (error) {
          this.setError(name, error);
        } finally {
          this.pending.delete(name);
        }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    if (this.stopped) return;
    this.loading.value = this.pending.size > 0;
    this.publish();
    const again = [...this.missed].filter((name) => !this.pending.has(name));
    for (const name of again) this.missed.delete(name);
    if (again.length > 0) await this.loadBoards(again, (name) => this.loadNewest(name));
  }

  private setError(board: string, error: unknown): void {
    const next = new Map(this.errors.peek());
    if (error === null) next.delete(board);
    else next.set(board, error);
    this.errors.value = next;
  }

  private async loadNewest(board: string): Promise<void> {
    const source = this.sources.get(board);
    if (!source) {
      const page = await call('listEvents', { params: { board }, query: { newest: true, limit: PAGE } });
      this.sources.set(board, {
        events: page.events.toReversed(),
        loadBefore: page.prev_before,
        head: page.head_seq,
        kept: page.events.length + KEPT,
      });
      return;
    }
    for (;;) {
      const page = await call('listEvents', { params: { board }, query: { after: source.head, limit: 200 } });
      source.events.unshift(...page.events.toReversed());
      if (source.events.length > source.kept) {
        source.events.length = source.kept;
        source.loadBefore = source.events.at(-1)?.seq ?? null;
      }
      source.head = page.events.at(-1)?.seq ?? page.head_seq;
      if (page.next_after === null) return;
    }
  }

  private async before(board: string): Promise<void> {
    const source = this.sources.get(board);
    if (!source || source.loadBefore === null) return;
    const query = { newest: true, limit: PAGE, before: source.loadBefore };
    const page = await call('listEvents', { params: { board }, query });
    source.events.push(...page.events.toReversed());
    source.loadBefore = page.prev_before;
    source.kept = source.events.length + KEPT;
  }

  private publish(): void {
    const oldest = this.oldest();
    const all: Entry[] = [];
    for (const [board, { events }] of this.sources) {
      this.names.learn(board, events);
      for (const event of events) if (event.at >= oldest) all.push({ board, event });
    }
    this.entries.value = all.toSorted((a, b) =>
      a.event.at === b.event.at ? b.event.seq - a.event.seq : a.event.at < b.event.at ? 1 : -1,
    );
    this.hasMore.value = [...this.sources.values()].some(({ loadBefore }) => loadBefore !== null);
  }
}
