/** Reminders about an agent's work, from the server's data. Each is shown once per occasion. */
import { DAY, HOUR } from '../../contract/durations.ts';
import { bytesOf, quoted } from '../bundle/escape.ts';
import type { ComposeSeat, Point } from './types.ts';

interface Reminder {
  code: 'pause_late' | 'line_stale' | 'brief_stale';
  /** Identifies the occasion: a reminder is repeated only with another key. */
  key: string;
  /** One line of at most 200 bytes. */
  text: string;
}

/** Limit of one reminder. */
export const MAX_REMINDER_BYTES = 200;

const LINE_STALE_MS = 2 * HOUR;
const BRIEF_STALE_MS = HOUR;
const BRIEF_MESSAGES = 30;
const BRIEF_TASKS = 3;

/** The reminders that are due for a seat. @param on the flags that select this board */
export function reminders(seat: ComposeSeat, point: Point, now: number, on: string): Reminder[] {
  if (seat.mode === 'off' || !seat.inbox.work.nudges) return [];
  const due = [
    ...(point === 'boundary' || point === 'turn_start' ? pauseLate(seat, now, on) : []),
    ...(point === 'turn_start' ? [...lineStale(seat, now, on), ...briefStale(seat, now, on)] : []),
  ];
  return due.filter(({ code, key }) => !seat.nudged(code, key));
}

function pauseLate({ inbox: { work } }: ComposeSeat, now: number, on: string): Reminder[] {
  const { line } = work;
  if (line?.kind !== 'paused' || line.until === null || Date.parse(line.until) > now) return [];
  const said = `Your pause "${excerpt(line.text)}" was to end ${age(now, line.until)} ago:`;
  const text = reminderLine(said, [`service line working "…"${on}`, `or service line clear${on}`]);
  return [{ code: 'pause_late', key: line.at, text }];
}

function lineStale({ inbox: { work } }: ComposeSeat, now: number, on: string): Reminder[] {
  const { line, current_task: task } = work;
  if (line?.kind !== 'working' || line.source !== 'command') return [];
  // A newer note on the task counts as activity too.
  const latest = Math.max(Date.parse(line.at), task?.stands ? Date.parse(task.stands.at) : 0);
  if (now - latest < LINE_STALE_MS) return [];
  const said = `Your line "${excerpt(line.text)}" is ${age(now, line.at)} old. Still so?`;
  const text = reminderLine(said, [`service line working "…"${on}`, `or service line clear${on}`]);
  return [{ code: 'line_stale', key: line.at, text }];
}

function briefStale({ inbox: { work } }: ComposeSeat, now: number, on: string): Reminder[] {
  const { brief } = work;
  if (!brief || now - Date.parse(brief.at) < BRIEF_STALE_MS) return [];
  const over = [
    ...(brief.messages_since >= BRIEF_MESSAGES ? ['messages'] : []),
    ...(brief.tasks_done_since >= BRIEF_TASKS ? ['tasks'] : []),
  ];
  const said = `Your brief v${brief.version} is ${age(now, brief.at)} old; since then ${brief.messages_since} messages, ${brief.tasks_done_since} tasks done:`;
  const text = reminderLine(said, [`service brief get${on}`, `service brief put${on}`]);
  return over.map((threshold) => ({
    code: 'brief_stale',
    key: `${brief.file_id}.${brief.version}.${threshold}`,
    text,
  }));
}

/** A reminder with its commands; the last one is left out if it does not fit. */
function reminderLine(said: string, commands: string[]): string {
  const line = (count: number) => `service: ${said} ${commands.slice(0, count).join(', ')}`;
  return bytesOf(line(commands.length)) <= MAX_REMINDER_BYTES ? line(commands.length) : line(1);
}

/** Shortens a line, so that the reminder fits. */
const excerpt = (text: string): string => quoted([...text].slice(0, 30).join(''));

/** `3 h`, `2 d`, `40 min` */
function age(now: number, time: string): string {
  const ms = Math.max(0, now - Date.parse(time));
  if (ms >= 48 * HOUR) return `${Math.floor(ms / DAY)} d`;
  if (ms >= HOUR) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / 60_000)} min`;
}
