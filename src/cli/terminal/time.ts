/** Parses and formats times and durations. */
import { isoTime } from '../../contract/iso-time.ts';
import { usage } from '../../local/failure.ts';

export type TimeStyle = 'relative' | 'clock' | 'local' | 'iso';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const units: Record<string, number> = { s: 1, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY, y: 365 * DAY };

/** A time of the API in the chosen style. */
export function showTime(at: string, style: TimeStyle, now = Date.now()): string {
  if (style === 'iso') return at;
  if (style === 'local') return new Date(at).toLocaleString('sv-SE');
  if (style === 'clock') return onTheClock(new Date(at), new Date(now));
  return ago(Math.floor((now - Date.parse(at)) / 1000));
}

/** A time to come in the chosen style. */
export function showEnd(at: string, style: TimeStyle): string {
  if (style !== 'relative') return showTime(at, style);
  const seconds = Math.ceil((Date.parse(at) - Date.now()) / 1000);
  if (seconds <= 0) return 'now';
  if (seconds < 60) return `in ${seconds}s`;
  if (seconds < HOUR) return `in ${Math.floor(seconds / MINUTE)}m`;
  // A second after it was made, what lives for 30 days still ends in 30 days.
  if (seconds < 2 * DAY) return `in ${Math.round(seconds / HOUR)}h`;
  return `in ${Math.round(seconds / DAY)}d`;
}

/** For what stays on the screen, where "just now" would soon be wrong: the time of day, with the date unless it is today. */
function onTheClock(at: Date, now: Date): string {
  const time = at.toLocaleTimeString('sv-SE', { hour: '2-digit', minute: '2-digit' });
  return at.toDateString() === now.toDateString() ? time : `${at.toLocaleDateString('sv-SE')} ${time}`;
}

/** The style for what is followed as it comes, and behind words that need a moment, such as "until". */
export const followed = (style: TimeStyle): TimeStyle => (style === 'relative' ? 'clock' : style);

function ago(seconds: number): string {
  if (seconds < 60) return 'just now';
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h ago`;
  return `${Math.floor(seconds / DAY)}d ago`;
}

/** Seconds of `30s`, `5m`, `2h`, `7d`, `2w`, `1y` or a plain number. */
export function duration(text: string, name: string): number {
  const seconds = secondsOf(text);
  if (Number.isNaN(seconds)) throw usage(`${name} takes a duration such as 30s, 5m, 2h or 7d, but got "${text}".`);
  return seconds;
}

/** NaN for any other text. */
function secondsOf(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhdwy]?)$/.exec(text.trim()) ?? [];
  return Number(count) * (units[unit || 's'] as number);
}

/** A duration, exact, as `duration` reads it. */
export const span = (seconds: number): string =>
  seconds % DAY === 0 && seconds > DAY
    ? `${seconds / DAY}d`
    : seconds % HOUR === 0
      ? `${seconds / HOUR}h`
      : seconds % MINUTE === 0
        ? `${seconds / MINUTE}m`
        : `${seconds}s`;

/** A setting of a board's policy as `board policy --set` takes it: `12/30`, `30m`, `open`. */
export function policyValueText(value: unknown): string {
  if (typeof value === 'number') return span(value);
  const { notice, hold } = Object(value) as { notice?: number; hold?: number };
  return hold === undefined ? String(value) : `${notice}/${hold}`;
}

/** A moment: a date and time, `14:20` today, or a duration from now; never in the past. */
export function moment(text: string, name: string, now = Date.now()): string {
  const at = clock(text, now) ?? dated(text) ?? now + secondsOf(text) * 1000;
  if (!isTime(at)) throw usage(`${name} takes a time such as 14:20, 2h or 2026-03-02T09:00:00Z, but got "${text}".`);
  if (at < now) throw usage(`${name}: ${text} is past.`);
  return new Date(at).toISOString();
}

/** A moment that lies behind: a date and time, `14:20` today, or how long ago. */
export function pastMoment(text: string, name: string, now = Date.now()): string {
  const today = clock(text, now);
  const at = today ?? dated(text) ?? now - secondsOf(text) * 1000;
  if (!isTime(at)) throw usage(`${name} takes a time such as 14:20, 2d or 2026-03-02T09:00:00Z, but got "${text}".`);
  if (today !== null && at > now)
    throw usage(
      `${name}: ${text} is still to come today.`,
      'For a time of another day, name the date: 2026-03-02T14:20',
    );
  return new Date(at).toISOString();
}

const isTime = (at: number): boolean => !Number.isNaN(new Date(at).getTime());

/** In any form of ISO 8601; without an offset it is local time. NaN: no such time exists. */
function dated(text: string): number | null {
  const at = isoTime(text);
  if (isTime(at)) return at;
  const [date = ''] = /^\d{4}-.{0,5}/.exec(text) ?? [];
  if (date === '') return null;
  // Date.parse takes 31 April for 1 May, and a date alone for one of UTC.
  return isTime(isoTime(`${date}T00:00Z`)) ? Date.parse(text === date ? `${date}T00:00` : text) : Number.NaN;
}

function clock(text: string, now: number): number | null {
  const match = /^([01]?\d|2[0-3]|24(?=:00)):([0-5]\d)$/.exec(text);
  if (!match) return null;
  const at = new Date(now);
  at.setHours(Number(match[1]), Number(match[2]), 0, 0);
  return at.getTime();
}
