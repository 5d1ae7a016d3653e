/** The history of a task: its events and asks, latest first. */
import { useState } from 'preact/hooks';
import { WEEK } from '../../contract/durations.ts';
import type { Message, Task } from '../../contract/types.ts';
import { formatExact, formatTime, isSameDay } from '../parts/time.tsx';
import { now } from '../state/clock.ts';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';
import { describeTaskEvent, type TaskLog } from './task-log.ts';

interface Entry {
  at: string;
  text: string;
  href?: string;
}

const INITIAL_LIMIT = 8;
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** "14:06", "Thu 18:10", "3 Nov". */
function shortTime(at: string): string {
  if (isSameDay(at, new Date(now.value).toISOString())) return formatTime(at);
  const ms = Date.parse(at);
  return now.value - ms < WEEK ? `${weekday.format(ms)} ${formatTime(at)}` : date.format(ms);
}

function buildEntries({ task, asks, log, room }: HistoryProps): Entry[] {
  const { name: board } = room;
  const events = (log.events.value ?? [])
    .filter(({ data }) => data?.['task_id'] === task.id)
    .map((event) => ({
      at: event.at,
      text: `${event.actor.name ?? 'the server'} ${describeTaskEvent(event, room.names.of)}`,
    }));
  const asked = asks.map(({ at, from, ask, seq }) => ({
    at,
    text: `${from.name} asked ${room.isMe(ask!.to) ? 'you' : ask!.to.name}${ask!.state === 'open' ? '' : `, ${ask!.state.replace('_', ' ')}`}`,
    href: hrefOf({ screen: 'board', board, tab: 'talk', message: seq }),
  }));
  return [...events, ...asked].sort((a, b) => (a.at < b.at ? 1 : -1));
}

interface HistoryProps {
  task: Task;
  asks: Message[];
  log: TaskLog;
  room: Room;
}

export function History(props: HistoryProps) {
  const [all, setAll] = useState(false);
  const entries = buildEntries(props);
  if (entries.length === 0) return null;
  const shown = all ? entries : entries.slice(0, INITIAL_LIMIT);
  return (
    <section class="ps" aria-labelledby="task-history">
      <h3 id="task-history">History</h3>
      <ol class="hist">
        {shown.map(({ at, text, href }) => (
          <li key={at + text}>
            <time dateTime={at} title={formatExact(at)}>
              {shortTime(at)}
            </time>
            <span>{href ? <a href={href}>{text}</a> : text}</span>
          </li>
        ))}
      </ol>
      {shown.length < entries.length && (
        <button type="button" class="link q2" onClick={() => setAll(true)}>
          {entries.length - shown.length} earlier
        </button>
      )}
    </section>
  );
}
