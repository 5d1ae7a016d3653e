/** Counting per subject in fixed windows of the clock, in memory, and what somebody is told who asked too often. */
import { Refusal } from '../../contract/errors.ts';

/** Of more subjects than this the least recently counted is forgotten. */
export const MOST_SUBJECTS = 10_000;

export class Windows {
  readonly ms: number;
  #current = -1;
  readonly #counts = new Map<string, number>();

  constructor(ms: number) {
    this.ms = ms;
  }

  /** Counts one more; answers how many it is in this window. */
  add(subject: string, now: number): number {
    const count = this.count(subject, now) + 1;
    // Taken out and put back, so that the map stays in the order of last use.
    if (count > 1) this.#counts.delete(subject);
    else if (this.#counts.size >= MOST_SUBJECTS) this.#counts.delete(this.#counts.keys().next().value as string);
    this.#counts.set(subject, count);
    return count;
  }

  /** How many were counted in the window of `now`. */
  count(subject: string, now: number): number {
    const window = Math.floor(now / this.ms);
    if (window !== this.#current) {
      this.#current = window;
      this.#counts.clear();
    }
    return this.#counts.get(subject) ?? 0;
  }
}

/** @param ms until it makes sense to try again. @param of the number that was reached, where it is the caller's own. */
export function rateLimited(bucket: string, ms: number, of?: { limit: number; window_seconds: number }): Refusal {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return new Refusal('rate_limited', 'That was too often for now.', {
    hint: `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    retryAfter: seconds,
    details: { bucket, retry_after_seconds: seconds, ...of },
  });
}

/** Milliseconds until the window ends that `now` lies in. */
export const msLeft = (now: number, windowMs: number): number => windowMs - (now % windowMs);
