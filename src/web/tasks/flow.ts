/** Computes the number of tasks in each state at the end of each of the last days. */
import type { Answer, BoardEvent, Task } from '../../contract/types.ts';
import { call, listAll } from '../api/client.ts';
import { isClosed } from './columns.ts';

export const DAYS = 30;

/** Tasks by state at one time. `done` counts those finished since the first day. */
export interface TaskCounts {
  at: number;
  open: number;
  in_progress: number;
  blocked: number;
  done: number;
}

/** A period, in milliseconds since the epoch, in which a task was blocked. */
export interface BlockedPeriod {
  task: string;
  from: number;
  to: number;
}

/** The end of each of the last days; the last value is now. */
export function endsOfDays(now: number): number[] {
  const today = new Date(now);
  return [
    ...Array.from({ length: DAYS - 1 }, (_, index) =>
      new Date(today.getFullYear(), today.getMonth(), today.getDate() - DAYS + 2 + index).getTime(),
    ),
    now,
  ];
}

type State = 'open' | 'in_progress' | 'done';

/** The new state of a task after an event; undefined if unchanged. */
function stateAfter({ type, data }: BoardEvent): State | undefined {
  if (type === 'task.created' || (type === 'task.dropped' && data?.['as'] === 'owner')) return 'open';
  if (type === 'task.started') return 'in_progress';
  return type === 'task.done' ? 'done' : undefined;
}

/**
 * Counts tasks at each time. The last count uses the current tasks, which include every blocking ask.
 */
export function countTasks(
  events: BoardEvent[],
  blocks: BlockedPeriod[],
  days: number[],
  current: Iterable<Task>,
): TaskCounts[] {
  const states = new Map<string, State>();
  let next = 0;
  let before: number | null = null;
  const moments = days.map((at) => {
    for (let event = events[next]; event && Date.parse(event.at) <= at; event = events[++next]) {
      const state = stateAfter(event);
      if (state) states.set(String(event.data?.['task_id']), state);
    }
    const blocked = new Set(blocks.filter(({ from, to }) => from <= at && at < to).map(({ task }) => task));
    const moment: TaskCounts = { at, open: 0, in_progress: 0, blocked: 0, done: 0 };
    for (const [task, state] of states) moment[state !== 'done' && blocked.has(task) ? 'blocked' : state]++;
    before ??= moment.done;
    return { ...moment, done: moment.done - before };
  });
  const last = moments.at(-1);
  if (last) {
    last.open = last.in_progress = last.blocked = 0;
    for (const task of current)
      if (!isClosed(task)) last[task.blocked ? 'blocked' : (task.state as 'open' | 'in_progress')]++;
  }
  return moments;
}

/** Loads the periods since a time in which tasks were blocked: from a blocking ask to its first answer. */
export async function loadBlockedPeriods(board: string, since: number): Promise<BlockedPeriod[]> {
  const asks: { id: string; from: number; task: string; open: boolean }[] = [];
  for await (const page of listAll('listAsks', { query: { board, state: 'all', limit: 200 } }))
    for (const { id, at, ask } of page.asks)
      if (ask?.blocking && ask.task)
        asks.push({ id, from: Date.parse(at), task: ask.task.id, open: ask.state === 'open' });
  const answered = new Map<string, number>();
  /** Whether earlier answers may be needed: one within the time, or the first to an ask of which a later one was found. */
  const mayLack = (read: number): boolean =>
    read >= since || asks.some(({ id, from }) => from < read && (answered.get(id) ?? 0) >= since);
  for (let before: number | undefined; ; ) {
    const query = { has: 'answer', newest: true, limit: 200, ...(before === undefined ? {} : { before }) };
    const page: Answer<'listMessages'> = await call('listMessages', { params: { board }, query });
    // From the newest to the oldest, so that the first answer stays.
    for (const { answer, at } of page.messages.toReversed()) if (answer) answered.set(answer.ask_id, Date.parse(at));
    const first = page.messages[0];
    if (page.prev_before === null || !first || !mayLack(Date.parse(first.at))) break;
    before = page.prev_before;
  }
  return asks.flatMap(({ id, from, task, open }) => {
    // A closed ask without a loaded answer was answered before `since`.
    const to = open ? Number.POSITIVE_INFINITY : answered.get(id);
    return to === undefined ? [] : [{ task, from, to }];
  });
}
