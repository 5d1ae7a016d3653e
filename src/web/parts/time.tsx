/** Formats times, mostly relative to now. */
import { DAY, MINUTE } from '../../contract/durations.ts';
import { lostAt } from '../live/link.ts';
import { now, serverNow } from '../state/clock.ts';

const clockTime = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const dayName = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long' });
const dayYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', year: 'numeric' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'medium' });

/** The start of a day, in milliseconds since the epoch. */
const midnight = (ms: number): number => new Date(ms).setHours(0, 0, 0, 0);

/** Whether both times are on the same day in the browser's time zone. */
export const isSameDay = (a: string, b: string): boolean => midnight(Date.parse(a)) === midnight(Date.parse(b));

/** "Today", "Yesterday", "Thursday 19 November", or a date with its year if it is not this year. */
export function formatDay(at: string): string {
  const ms = Date.parse(at);
  const days = Math.round((midnight(now.value) - midnight(ms)) / DAY);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return (new Date(ms).getFullYear() === new Date(now.value).getFullYear() ? dayName : dayYear).format(ms);
}

/** "14:06". */
export const formatTime = (at: string): string => clockTime.format(Date.parse(at));

/** "today, 13:40", "tomorrow, 13:40", "yesterday, 13:40", or the date and time. */
export function formatDayTime(at: string): string {
  const day = formatDay(at);
  const tomorrow = formatDay(new Date(Date.parse(at) - DAY).toISOString()) === 'Today';
  return `${tomorrow ? 'tomorrow' : /day$/.test(day) ? day.toLowerCase() : day}, ${formatTime(at)}`;
}

/** "13:40" where it stands under its day, else with that. */
export const formatUnder = (at: string, day: string): string => (isSameDay(at, day) ? formatTime : formatDayTime)(at);

/** "13:40" for today, else with its day. */
export const formatPast = (at: string): string => (formatDay(at) === 'Today' ? formatTime(at) : formatDayTime(at));

/** " at 14:06" where the connection was lost then: what stands there was so at that time. Empty with a connection. */
export function atLoss(): string {
  if (lostAt.value === null) return '';
  const time = formatPast(new Date(lostAt.value).toISOString());
  return time.includes(',') ? `, ${time}` : ` at ${time}`;
}

/** How long ago: "now", "9 min", "3 h", "2 days", then the date. */
export function ago(at: string): string {
  const ms = serverNow.value - Date.parse(at);
  const minutes = Math.floor(ms / MINUTE);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes}\u00a0min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}\u00a0h`;
  const days = Math.floor(minutes / (24 * 60));
  return days < 14 ? `${days}\u00a0${days === 1 ? 'day' : 'days'}` : dayYear.format(Date.parse(at));
}

/** "just now", "9 min ago", or a date. */
export function agoPhrase(at: string): string {
  const words = ago(at);
  return words === 'now' ? 'just now' : /(min|h|days?)$/.test(words) ? `${words} ago` : words;
}

/** How long until: "22 min", "3 h", or "now" if it has passed. */
export function until(at: string): string {
  const minutes = Math.ceil((Date.parse(at) - serverNow.value) / MINUTE);
  if (minutes < 1) return 'now';
  return minutes < 60
    ? `${minutes}\u00a0min`
    : minutes < 48 * 60
      ? `${Math.round(minutes / 60)}\u00a0h`
      : `${Math.round(minutes / 1440)}\u00a0days`;
}

/** The full date and time. */
export const formatExact = (at: string): string => exact.format(Date.parse(at));

/** The time of day, or with `relative` "9 min", or with `words` "9 min ago". The exact time is the tooltip. */
export const Time = (props: { at: string; relative?: boolean; words?: boolean }) => (
  <time dateTime={props.at} title={formatExact(props.at)}>
    {props.words ? agoPhrase(props.at) : props.relative ? ago(props.at) : formatTime(props.at)}
  </time>
);
