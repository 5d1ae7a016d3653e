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
const REPEATS_MS = 600_000;
/** Of more seats than this the one that read first is forgotten. */
const MOST_SEATS = 10_000;

/** What a waiting read is answered with: the numbers of its first and last message, and whether one of an agent wakes the seat. */
interface Given {
  first: number;
  last: number;
  wakes: boolean;
}

interface Repeats {
  cursor: number;
  /** The newest number that was given. */
  newest: number;
  /** The number of the last word of a person that was given. */
  word: number;
  /** The end of the brake under which it is counted; null: nothing brakes the seat. */
  braked: number | null;
  count: number;
  since: number;
}

/**
 * Counts the waiting reads of seats that acknowledge nothing, which get the same again and again. The brake that follows is
 * on the seat's row; once that one has ended or was released, it is counted anew.
 */
export class RepeatedReads {
  readonly #seats = new Map<string, Repeats>();

  /**
   * Counts an answer with what is unread after `cursor`, unless all of it is new and no agent's message in it wakes the seat:
   * there may be nothing to acknowledge yet. A new word of a person is always given.
   * @param word the number of the last one; 0: none is unread
   * @param brake what brakes the seat already
   * @returns until when no more are to be given; null: this one may
   */
  take(
    memberId: string,
    { cursor, word, brake, page }: { cursor: number; word: number; brake: ReturnType<typeof brakeAt>; page: Given },
    now: number,
  ): number | null {
    const known = this.#seats.get(memberId);
    const braked = brake?.until ?? null;
    const before = known?.cursor === cursor ? known : undefined;
    const isNew = word > (before?.word ?? 0);
    const same = before?.braked === braked && now - before.since < REPEATS_MS;
    const newest = before?.newest ?? 0;
    const seat = same ? before : { cursor, newest, word, braked, count: 0, since: now };
    seat.word = Math.max(before?.word ?? 0, word);
    if (!known && this.#seats.size >= MOST_SEATS) this.#seats.delete(this.#seats.keys().next().value as string);
    this.#seats.set(memberId, seat);
    const counts = before === undefined || page.first <= newest || page.wakes;
    const full = counts && seat.count >= MOST_REPEATS ? seat.since + REPEATS_MS : null;
    const until = brake?.reason === 'reads' ? brake.until : full;
    if (until !== null && !isNew) return until;
    seat.newest = Math.max(newest, page.last);
    if (until === null && counts) seat.count++;
    return null;
  }

  /** Notes that the seat's row says so from now on. */
  stored(memberId: string, until: number): void {
    const seat = this.#seats.get(memberId);
    if (seat) seat.braked = until;
  }
}
