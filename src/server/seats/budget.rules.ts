/** How often agents' messages may wake a seat: buckets that fill up again, and the pause once one is empty. */
import type { Budget } from '../../contract/types.ts';

type WakeLimits = Exclude<Budget['wakes'], 'off'>;

/** What is left of each limit, and when that was so, in milliseconds since the epoch. */
export interface Bucket {
  left: number;
  at: number;
}

export const usualWakes: WakeLimits = [
  { count: 40, seconds: 600 },
  { count: 400, seconds: 86_400 },
];

/** Where nothing was taken yet it is full; a limit that was lowered holds no more than it may. */
const filled = (buckets: readonly Bucket[], limits: WakeLimits, now: number): Bucket[] =>
  limits.map(({ count, seconds }, index) => {
    const { left, at } = buckets[index] ?? { left: count, at: now };
    return { left: Math.min(count, left + (Math.max(0, now - at) / 1000) * (count / seconds)), at: now };
  });

/** Takes one wake. @returns also until when the seat is paused, if that was the last one */
export function takeWake(buckets: readonly Bucket[], limits: WakeLimits, now: number) {
  const left = filled(buckets, limits, now).map((bucket) => ({ ...bucket, left: bucket.left - 1 }));
  const empty = limits.filter((_, index) => (left[index]?.left ?? 1) < 1);
  // By then the bucket is full again.
  const until = empty.length === 0 ? null : now + Math.max(...empty.map(({ seconds }) => seconds)) * 1000;
  return { buckets: left.map((bucket) => ({ ...bucket, left: Math.max(0, bucket.left) })), until };
}

/** As many more wakes as the shortest limit has. */
export function refilled(buckets: readonly Bucket[], limits: WakeLimits, now: number): Bucket[] {
  const [shortest] = limits.toSorted((a, b) => a.seconds - b.seconds);
  return filled(buckets, limits, now).map((bucket) => ({
    ...bucket,
    left: Math.max(bucket.left, shortest?.count ?? 0),
  }));
}

/** What is left of a cost in the time that began with the first one, in US dollars; `at` is when it began. */
export function takenCost(
  bucket: Bucket | null,
  { usd, seconds }: NonNullable<Budget['cost']>,
  cost: number,
  now: number,
): Bucket {
  const { left, at } = bucket && now - bucket.at < seconds * 1000 ? bucket : { left: usd, at: now };
  // In millionths: sums of fractions are not exact. A time that is to come began before the clock was set back.
  return { left: Math.max(0, Math.round((left - cost) * 1e6)) / 1e6, at: Math.min(at, now) };
}

export type BrakeReason = 'wakes' | 'cost' | 'reads' | 'person';

/** What a seat's row says of its brake. */
export interface Brake {
  braked_until: number | null;
  braked_reason: BrakeReason | null;
  /** Since when. */
  braked_at: number | null;
}

export const noBrake: Brake = { braked_until: null, braked_reason: null, braked_at: null };

/** The brake that holds now. */
export const brakeAt = (
  { braked_until: until, braked_reason: reason }: Pick<Brake, 'braked_until' | 'braked_reason'>,
  now: number,
): { until: number; reason: BrakeReason } | null =>
  until === null || reason === null || until <= now ? null : { until, reason };

/** Most waiting reads in ten minutes that are answered without anything new acknowledged. */
const MOST_REPEATS = 40;
export const REPEATS_MS = 600_000;
/** So many of them are written at once: there are few writes, and few reads that other processes do not know of. */
const SHARE = 4;
/** Of more seats than this the one that read first is forgotten. */
const MOST_SEATS = 10_000;

/** What a waiting read is answered with: the numbers of its first and last message, and whether one of an agent wakes the seat. */
interface Given {
  first: number;
  last: number;
  wakes: boolean;
}

/** What a seat's row says of its waiting reads. */
interface Reader {
  id: string;
  read_up_to: number;
  reads: number;
  reads_since: number | null;
}

interface Repeats {
  cursor: number;
  /** The newest number that was given. */
  newest: number;
  /** The number of the last word of a person that was given. */
  word: number;
  /** Reads that the row does not count yet, and when the first of them was. */
  count: number;
  since: number;
}

/** Reads that the row is to count. */
export interface ReadsShare {
  count: number;
  since: number;
  /** Notes that it does. */
  stored(): void;
}

/**
 * Counts the waiting reads of seats that acknowledge nothing, which get the same again and again. The count, and the brake
 * that follows, are on the seat's row, for all server processes; each of them keeps the last few of its own reads in memory.
 */
export class RepeatedReads {
  readonly #seats = new Map<string, Repeats>();

  /**
   * Counts an answer with what is unread after the seat's position, unless all of it is new and no agent's message in it wakes
   * the seat: there may be nothing to acknowledge yet. A new word of a person is always given.
   * @param word the number of the last one; 0: none is unread
   * @param brake what brakes the seat already
   * @returns until when no more are to be given; null: this one may
   */
  take(
    { id, read_up_to: cursor, reads, reads_since }: Reader,
    { word, brake, page }: { word: number; brake: ReturnType<typeof brakeAt>; page: Given },
    now: number,
  ): { until: number | null; share?: ReadsShare } {
    const known = this.#seats.get(id);
    const before = known?.cursor === cursor ? known : undefined;
    const seat = before ?? { cursor, newest: 0, word: 0, count: 0, since: now };
    if (seat.count === 0 || now - seat.since >= REPEATS_MS) Object.assign(seat, { count: 0, since: now });
    const isNew = word > seat.word;
    seat.word = Math.max(seat.word, word);
    if (!known && this.#seats.size >= MOST_SEATS) this.#seats.delete(this.#seats.keys().next().value as string);
    this.#seats.set(id, seat);
    const counts = before === undefined || page.first <= seat.newest || page.wakes;
    const stored = reads_since !== null && now - reads_since < REPEATS_MS ? { reads, since: reads_since } : null;
    const isFull = counts && (stored?.reads ?? 0) + seat.count >= MOST_REPEATS;
    const full = isFull ? (stored ?? seat).since + REPEATS_MS : null;
    const until = brake?.reason === 'reads' ? brake.until : full;
    if (until !== null && !isNew) return { until };
    seat.newest = Math.max(seat.newest, page.last);
    if (until !== null || !counts) return { until: null };
    seat.count++;
    if (seat.count % SHARE > 0) return { until };
    const noteStored = () => {
      // It may have begun anew meanwhile.
      seat.count = Math.max(0, seat.count - SHARE);
    };
    return { until, share: { count: SHARE, since: seat.since, stored: noteStored } };
  }
}
