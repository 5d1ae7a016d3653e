/** Times: relative where they are near, with the exact time on hover. */
import { DAY, MINUTE } from '../../contract/durations.ts';
import { now } from '../state/clock.ts';

const clockTime = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const dayName = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long' });
const dayYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', year: 'numeric' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'medium' });

/** Midnight before a time, in milliseconds since the epoch. */
const midnight = (ms: number): number => new Date(ms).setHours(0, 0, 0, 0);

/** Whether both are on the same day of this browser's time zone. */
export const isSameDay = (a: string, b: string): boolean => midnight(Date.parse(a)) === midnight(Date.parse(b));

/** "Today", "Yesterday", "Thursday 19 November", or with its year when that is another one. */
export function dayOf(at: string): string {
  const ms = Date.parse(at);
  const days = Math.round((midnight(now.value) - midnight(ms)) / DAY);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return (new Date(ms).getFullYear() === new Date(now.value).getFullYear() ? dayName : dayYear).format(ms);
}

/** "14:06". */
export const timeOfDay = (at: string): string => clockTime.format(Date.parse(at));

/** How long ago: "now", "9 min", "3 h", "2 days", then the date. */
export function ago(at: string): string {
  const ms = now.value - Date.parse(at);
  const minutes = Math.floor(ms / MINUTE);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes}\u00a0min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}\u00a0h`;
  const days = Math.floor(minutes / (24 * 60));
  return days < 14 ? `${days}\u00a0${days === 1 ? 'day' : 'days'}` : dayYear.format(Date.parse(at));
}

/** "9 min ago" or "just now"; a date is none of both. */
export function agoWords(at: string): string {
  const words = ago(at);
  return words === 'now' ? 'just now' : /(min|h|days?)$/.test(words) ? `${words} ago` : words;
}

/** How long until: "22 min", "3 h"; "now" when it is past. */
export function until(at: string): string {
  const minutes = Math.ceil((Date.parse(at) - now.value) / MINUTE);
  if (minutes < 1) return 'now';
  return minutes < 60
    ? `${minutes}\u00a0min`
    : minutes < 48 * 60
      ? `${Math.round(minutes / 60)}\u00a0h`
      : `${Math.round(minutes / 1440)}\u00a0days`;
}

/** The exact time, for a hover and for readers of the screen. */
export const exactly = (at: string): string => exact.format(Date.parse(at));

/** A time of the day, how long ago in short, or the same in words. */
export const Time = (props: { at: string; relative?: boolean; words?: boolean }) => (
  <time dateTime={props.at} title={exactly(props.at)}>
    {props.words ? agoWords(props.at) : props.relative ? ago(props.at) : timeOfDay(props.at)}
  </time>
);
