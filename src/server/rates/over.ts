/** What somebody is told who asked too often. */
import { Refusal } from '../../contract/errors.ts';

/** @param seconds until it makes sense to try again. @param of the number that was reached, where it is the caller's own. */
export function rateLimited(bucket: string, seconds: number, of?: { limit: number; window_seconds: number }): Refusal {
  return new Refusal('rate_limited', 'That was too often for now.', {
    hint: `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    retryAfter: seconds,
    details: { bucket, retry_after_seconds: seconds, ...of },
  });
}

/** Whole seconds, at least one, until the window ends that `now` lies in. */
export const secondsLeft = (now: number, windowMs: number): number =>
  Math.max(1, Math.ceil((windowMs - (now % windowMs)) / 1000));
