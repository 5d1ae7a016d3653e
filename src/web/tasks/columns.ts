/** The columns of tasks and the texts of task cards. */
import { HOUR } from '../../contract/durations.ts';
import type { Member, Message, Task } from '../../contract/types.ts';
import { briefOf, titleOf } from '../parts/ask.ts';
import { plural } from '../parts/number.ts';
import { plainText } from '../parts/plain-text.ts';
import { ago, formatDayTime } from '../parts/time.tsx';
import { isAskedOfMe } from '../state/needs.ts';

export const columns = ['needs_you', 'blocked', 'in_progress', 'open', 'done'] as const;
type Column = (typeof columns)[number];

export const columnTitles: Record<Column, string> = {
  needs_you: 'Needs you',
  blocked: 'Blocked',
  in_progress: 'In progress',
  open: 'Open',
  done: 'Done',
};

/** Whether a task has ended. */
export const isClosed = ({ state }: Task): boolean => state === 'done' || state === 'cancelled';

export function columnOf(task: Task): Column {
  if (isClosed(task)) return 'done';
  if (task.needs_you) return 'needs_you';
  return task.blocked ? 'blocked' : (task.state as 'open' | 'in_progress');
}

/** Groups tasks by column. Open tasks are sorted by number, closed ones by closing time, latest first. */
export function byColumn(tasks: Iterable<Task>): Record<Column, Task[]> {
  const found: Record<Column, Task[]> = { needs_you: [], blocked: [], in_progress: [], open: [], done: [] };
  for (const task of tasks) found[columnOf(task)].push(task);
  for (const column of columns)
    found[column].sort((a, b) =>
      column === 'done' ? ((a.closed_at ?? '') < (b.closed_at ?? '') ? 1 : -1) : a.number - b.number,
    );
  return found;
}

export interface StatusLine {
  /** The name of an icon. */
  icon?: string;
  tone: 'mine' | 'ok' | 'gone' | 'plain';
  text: string;
}

/** "goes with 60 s, today, 14:30". */
const defaultText = ({ going_with, going_at }: NonNullable<Message['ask']>): string =>
  `goes with ${going_with}${going_at ? `, ${formatDayTime(going_at)}` : ''}`;

/** A disconnected owner is reported only after this time, which is longer than a restart. */
const GONE_AFTER_MS = 60_000;

/** The most important fact about a task, shown under the title of its card, or null. */
export function statusLine(task: Task, asks: Message[], owner: Member | undefined, now: number): StatusLine | null {
  if (isClosed(task)) return closedLine(task, now);
  const mine = asks.filter(isAskedOfMe);
  const blocking = mine.find(({ ask }) => ask?.blocking);
  if (task.needs_you)
    return { icon: 'ask', tone: 'mine', text: blocking ? titleOf(briefOf(blocking)) : 'waits on your answer' };
  const on = task.blocked_on[0];
  if (on) return { tone: 'plain', text: `waits on ${on.to.name}, ${ago(on.since)}` };
  if (task.blocked) return { tone: 'plain', text: 'waits on an answer' };
  const going = mine.find(({ ask }) => ask?.going_at && Date.parse(ask.going_at) > now);
  if (going?.ask) return { icon: 'clock', tone: 'mine', text: `asks you, ${defaultText(going.ask)}` };
  if (task.stale_since)
    return { tone: 'gone', text: `${task.owner?.name} left it, ${ago(owner?.presence_since ?? task.stale_since)}` };
  if (owner?.state === 'disconnected' && owner.presence_since && now - Date.parse(owner.presence_since) > GONE_AFTER_MS)
    return { tone: 'gone', text: `${owner.name} gone ${ago(owner.presence_since)}` };
  if (task.message_count === 0) return null;
  return { tone: 'plain', text: `${plural(task.message_count, 'message')}, ${ago(task.updated_at)}` };
}

function closedLine(task: Task, now: number): StatusLine {
  const at = task.closed_at ?? task.updated_at;
  if (task.state === 'cancelled') return { tone: 'plain', text: `cancelled, ${ago(at)}` };
  if (now - Date.parse(at) > HOUR) return { tone: 'plain', text: ago(at) };
  const note = task.closed_note ? plainText(task.closed_note) : '';
  return {
    icon: 'task',
    tone: 'ok',
    text: [ago(at) === 'now' ? 'just now' : ago(at), note].filter(Boolean).join(', '),
  };
}

/** Summarizes asks about tasks: "1 waits on you, 9 min; 1 goes on without you today, 14:30". */
export function waitingSentence(asks: Message[], now: number): string {
  const mine = asks.filter((message) => message.ask?.task && isAskedOfMe(message));
  const blocking = mine.filter(({ ask }) => ask?.blocking);
  const going = mine.flatMap(({ ask }) => (ask?.going_at && Date.parse(ask.going_at) > now ? [ask.going_at] : []));
  const oldest = blocking.map(({ at }) => at).sort()[0];
  const first = going.sort()[0];
  return [
    oldest && `${blocking.length} ${blocking.length === 1 ? 'waits' : 'wait'} on you, ${ago(oldest)}`,
    first && `${going.length} ${going.length === 1 ? 'goes' : 'go'} on without you ${formatDayTime(first)}`,
  ]
    .filter(Boolean)
    .join('; ');
}
