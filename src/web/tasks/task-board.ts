/** The tasks of the open board, updated by its events. */
import { effect, signal } from '@preact/signals';
import type { Answer, Member, Task } from '../../contract/types.ts';
import { call, listAll } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';
import { now } from '../state/clock.ts';
import type { Room, RoomEvent } from '../state/room.ts';
import { oneAtATime, Throttle } from '../state/throttle.ts';
import { columnOf, isClosed } from './columns.ts';

type Counts = Answer<'listTasks'>['counts'];

/** How many closed tasks are shown at first, and how many more at a time. Each is read by itself. */
export const INITIAL_DONE = 3;
export const DONE_PAGE = 20;
const MOVED_MS = 2_000;

export class TaskBoard {
  /** By id; null until loaded. */
  readonly tasks = signal<ReadonlyMap<string, Task> | null>(null);
  readonly counts = signal<Counts | null>(null);
  readonly error = signal<unknown>(null);
  /** Ids of tasks that changed their column within the last two seconds. */
  readonly moved = signal<ReadonlySet<string>>(new Set());
  private readonly board: string;
  private readonly stops: (() => void)[];
  /** Ids of tasks with events since the last load. */
  private changedTasks = new Set<string>();
  private readonly read = oneAtATime(() => this.readOpen());
  private readonly readThrottle = new Throttle(() => void this.read());
  /** Closed tasks whose events come before this number are not loaded; undefined: none is, null: all are. */
  private closedFrom: number | null | undefined = undefined;

  constructor(room: Room) {
    this.board = room.name;
    // Events arrive from `head` on, so the first load must not be older.
    const begin = effect(() => {
      if (room.head.value !== null && !this.tasks.peek()) void this.read();
    });
    const followStale = effect(() => {
      if (now.value && this.mayChangeStale(room.members.value)) this.readThrottle.schedule();
    });
    this.stops = [begin, followStale, room.subscribe((happening) => this.handleEvent(happening))];
  }

  /**
   * Whether a task may have become stale or stopped being so. That depends on time and presence, which cause no event.
   */
  private mayChangeStale(members: readonly Member[]): boolean {
    const gone = new Set(members.filter(({ presence }) => presence === 'no_session').map(({ id }) => id));
    return [...(this.tasks.peek()?.values() ?? [])].some(
      ({ state, owner, stale_since }) =>
        state === 'in_progress' && owner !== null && gone.has(owner.id) === (stale_since === undefined),
    );
  }

  close(): void {
    this.readThrottle.cancel();
    for (const stop of this.stops) stop();
  }

  /** Stores the result of a write without waiting for its event. */
  setTask(task: Task): void {
    this.replace(new Map(this.tasks.peek()).set(task.id, task));
  }

  /** Loads the next page of closed tasks, latest closed first. */
  async loadOlder(): Promise<void> {
    const before = this.closedFrom;
    if (before === null) return;
    // The list of tasks is in the order of their numbers.
    const page = await call('listEvents', {
      params: { board: this.board },
      query: {
        type: 'task.done',
        newest: true,
        ...(before === undefined ? { limit: INITIAL_DONE } : { limit: DONE_PAGE, before }),
      },
    });
    const ids = page.events.map(({ data }) => String(data?.['task_id']));
    const missing = ids.filter((id) => !isEnded(this.tasks.peek()?.get(id)));
    const read = await Promise.all(missing.map((id) => readTask(this.board, id)));
    this.closedFrom = page.prev_before;
    this.tasks.value = new Map([
      ...(this.tasks.peek() ?? []),
      ...read.flatMap((task) => (task ? [[task.id, task] as const] : [])),
    ]);
  }

  retry(): void {
    this.error.value = null;
    void this.read();
  }

  private handleEvent({ event, message }: RoomEvent): void {
    const about = event.type.startsWith('task.')
      ? [String(event.data?.['task_id'])]
      : (message?.about ?? []).map(({ id }) => id);
    for (const id of about) this.changedTasks.add(id);
    // An ask or answer may block or unblock a task without naming it.
    if (about.length > 0 || message?.ask || message?.answer) this.readThrottle.schedule();
  }

  private async readOpen(): Promise<void> {
    const touched = this.changedTasks;
    this.changedTasks = new Set();
    try {
      const found = new Map<string, Task>();
      const params = { board: this.board };
      for await (const page of listAll('listTasks', { params, query: { limit: 200 } })) {
        for (const task of page.tasks) found.set(task.id, task);
        this.counts.value = page.counts;
      }
      for (const [id, task] of this.tasks.peek() ?? []) if (!isClosed(task)) touched.add(id);
      const ended = [...touched].filter((id) => !found.has(id));
      for (const task of await Promise.all(ended.map((id) => readTask(this.board, id))))
        if (task) found.set(task.id, task);
      // A write that was answered meanwhile may be newer than what was read.
      for (const [id, task] of this.tasks.peek() ?? []) {
        const read = found.get(id);
        const isOlder = read !== undefined && Date.parse(read.updated_at) < Date.parse(task.updated_at);
        if (isOlder || (isClosed(task) && !isEnded(read))) found.set(id, task);
      }
      this.replace(found);
      if (this.closedFrom === undefined) await this.loadOlder();
      this.error.value = null;
    } catch (error) {
      for (const id of touched) this.changedTasks.add(id);
      this.error.value = error;
    }
  }

  private replace(found: Map<string, Task>): void {
    const before = this.tasks.peek();
    const moved = [...found.values()].filter((task) => {
      const old = before?.get(task.id);
      return old && columnOf(old) !== columnOf(task);
    });
    this.tasks.value = found;
    if (moved.length === 0) return;
    const ids = moved.map(({ id }) => id);
    this.moved.value = new Set([...this.moved.peek(), ...ids]);
    setTimeout(() => {
      this.moved.value = new Set([...this.moved.peek()].filter((id) => !ids.includes(id)));
    }, MOVED_MS);
  }
}

const isEnded = (task: Task | undefined): boolean => task !== undefined && isClosed(task);

/** Returns null if the task does not exist. */
async function readTask(board: string, task: string): Promise<Task | null> {
  try {
    return await call('getTask', { params: { board, task } });
  } catch (error) {
    if (hasCode(error, 'task_not_found')) return null;
    throw error;
  }
}
