/** Parses dates with times in any form of ISO 8601 that a client may send. */
import { DAY, HOUR, MINUTE } from './durations.ts';

const DATE =
  '(?<year>\\d{4})(?<dash>-?)(?:(?<month>\\d\\d)\\k<dash>(?<day>\\d\\d)|W(?<week>\\d\\d)\\k<dash>(?<weekday>[1-7])|(?<ordinal>\\d{3}))';
const TIME =
  '(?<hour>\\d\\d)(?:(?<colon>:?)(?<minute>\\d\\d)(?:\\k<colon>(?<second>\\d\\d))?)?(?:[.,](?<fraction>\\d{1,30}))?';
const OFFSET = '(?:Z|(?<sign>[+\\-\u2212])(?<offsetHour>\\d\\d)(?::?(?<offsetMinute>\\d\\d))?)';
const FORM = new RegExp(`^${DATE}T${TIME}${OFFSET}$`, 'i');

type Parts = Record<string, string | undefined>;

/**
 * Milliseconds since the epoch, rounded down. A time without an offset from UTC is not accepted.
 * @returns NaN for anything else.
 */
export function isoTime(text: string): number {
  const parts: Parts | undefined = FORM.exec(text)?.groups;
  if (!parts) return Number.NaN;
  const ms = dayOf(parts) + timeOfDay(parts) - offsetOf(parts);
  const year = new Date(ms).getUTCFullYear();
  return year >= 0 && year <= 9_999 ? ms : Number.NaN;
}

const midnight = (year: number, month: number, day: number): number => new Date(0).setUTCFullYear(year, month - 1, day);

/** By month and day, by the week of its year, or by the day of its year. */
function dayOf(parts: Parts): number {
  const [year, month, day, week, weekday] = ['year', 'month', 'day', 'week', 'weekday'].map((part) =>
    Number(parts[part]),
  ) as [number, number, number, number, number];
  if (parts['month'] !== undefined) {
    const ms = midnight(year, month, day);
    return new Date(ms).getUTCMonth() === month - 1 ? ms : Number.NaN;
  }
  if (parts['ordinal'] !== undefined) return within(year, midnight(year, 1, Number(parts['ordinal'])));
  // The week with the year's first Thursday is its first; it holds 4 January.
  const fourth = midnight(year, 1, 4);
  const thursday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY + ((week - 1) * 7 + 3) * DAY;
  return within(year, thursday) + (weekday - 4) * DAY;
}

const within = (year: number, ms: number): number => (new Date(ms).getUTCFullYear() === year ? ms : Number.NaN);

function timeOfDay({ dash, hour, colon, minute, second, fraction = '0' }: Parts): number {
  const [h, m, s] = [Number(hour), Number(minute ?? 0), Number(second ?? 0)];
  const unit = second !== undefined ? 1_000 : minute !== undefined ? MINUTE : HOUR;
  // A decimal fraction that is a whole millisecond can be slightly less in binary.
  const ms = h * HOUR + m * MINUTE + s * 1_000 + Math.floor(Number(`0.${fraction}`) * unit + 1e-9);
  const separated = minute === undefined || (dash === '-') === (colon === ':');
  // The day may end at 24:00, and a minute with a leap second.
  const exists = m < 60 && (s < 60 || (s === 60 && m === 59)) && (h < 24 || ms === DAY);
  return separated && exists ? ms : Number.NaN;
}

function offsetOf({ sign, offsetHour = '0', offsetMinute = '0' }: Parts): number {
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return Number.NaN;
  const ms = Number(offsetHour) * HOUR + Number(offsetMinute) * MINUTE;
  return sign === undefined || sign === '+' ? ms : -ms;
}
