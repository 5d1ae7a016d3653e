/** When a failed request is sent again, and after how long. */
import { tokenKinds } from '../contract/ids.ts';
import { idempotencyOf } from '../contract/operation.ts';
import type { ClientRoute } from '../contract/routes.ts';
import { ClientError, outcomeUnknown } from './errors.ts';
import { MAX_ATTEMPTS } from './limits.ts';
import type { Clock } from './time.ts';

/** The contract's idempotency classes, and one more for every operation that is not a write. */
type RetryClass = 'read' | 'K' | 'R' | 'N' | 'S';

/** @param token the credential the request goes with: for some operations the class depends on its kind. */
export function retryClass(row: ClientRoute, token?: string): RetryClass {
  const kind = tokenKinds.find(([, pattern]) => token !== undefined && pattern.test(token))?.[0];
  const klass = idempotencyOf(row, kind);
  return klass === '-' ? 'read' : klass;
}

/** Statuses of temporary failures. */
const TRANSIENT = new Set([408, 429, 500, 502, 503, 504]);

export function isTransientAnswer(status: number, code: string): boolean {
  return TRANSIENT.has(status) || code === 'idempotency_in_progress';
}

/** Whether a refusal says that nobody knows if the request was carried out. */
export const saysUnknown = (details: ClientError['details']): boolean => details?.['outcome'] === 'unknown';

/**
 * The retry table.
 *
 * @param internals how many 500s of this call were already retried.
 * @param ownReceipt whether the operation recognises its repeats, although no answer is kept
 */
export function mayRetry(error: ClientError, klass: RetryClass, internals: number, ownReceipt = false): boolean {
  if (!error.transient) return false;
  if (error.delivery === 'not_sent') return true;
  if (error.status === 429 || error.code === 'idempotency_in_progress') return true;
  if (klass === 'S')
    return error.status === 503 && error.retryAfter !== undefined && (ownReceipt || !saysUnknown(error.details));
  return error.status !== 500 || internals === 0;
}

/**
 * Milliseconds before attempt `n` (2 or more): what the server asked for, else random between 50 ms and a bound that
 * doubles from 500 ms to 8 s, so that clients which failed together do not come back together. A server that asks for
 * no time at all is not asked again without a pause.
 */
export function retryDelay(error: ClientError, n: number, random: () => number): number {
  if (error.retryAfter) return error.retryAfter * 1000;
  const limit = Math.min(8_000, 250 * 2 ** (n - 1));
  return Math.round(50 + random() * (limit - 50));
}

/**
 * `Retry-After` in whole seconds, from seconds or a date; undefined when there is none or it says nothing.
 * A date is read against the answer's own `Date`, because the clocks need not agree.
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const until = Date.parse(value);
  if (Number.isNaN(until)) return undefined;
  const sent = Date.parse(headers.get('date') ?? '');
  return Math.max(0, Math.ceil((until - (Number.isNaN(sent) ? now : sent)) / 1000));
}

interface RetryPlan {
  klass: RetryClass;
  ownReceipt?: boolean | undefined;
  /** When the whole call has to be over, in the clock's milliseconds. */
  deadline: number;
  /** Milliseconds before the next attempt, which count also where the call itself has no limit. */
  longestDelay?: number;
  maxAttempts?: number;
  /** Whether the attempt that failed brought the call further: then attempts are counted from it on. */
  gotFurther?(): boolean;
  signal?: AbortSignal;
  onRetry?(info: { attempt: number; delayMs: number; reason: string }): void;
}

/**
 * Runs `attempt` until it succeeds, or until `mayRetry`, `maxAttempts` or the deadline stops it.
 *
 * @throws ClientError of the last attempt, or `outcome_unknown` when a class S request may have taken effect.
 */
export async function retrying<T>(
  clock: Clock & { random(): number },
  plan: RetryPlan,
  attempt: (n: number) => Promise<T>,
): Promise<T> {
  let internals = 0;
  let unclear = false;
  for (let n = 1; ; n++) {
    try {
      return await attempt(n);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      if (plan.gotFurther?.()) n = 1;
      error.attempts = n;
      unclear ||= error.delivery === 'unclear';
      // A repeat that did not get through, or was sent away, tells nothing of the request before it.
      if (unclear && error.transient) error.delivery = 'unclear';
      error.mayBeDone = /^[KR]$/.test(plan.klass) && error.delivery === 'unclear';
      if (n >= (plan.maxAttempts ?? MAX_ATTEMPTS) || !mayRetry(error, plan.klass, internals, plan.ownReceipt)) {
        throw plan.klass === 'S' && error.delivery === 'unclear' ? outcomeUnknown(error) : error;
      }
      if (error.status === 500) internals++;
      const delayMs = retryDelay(error, n + 1, clock.random);
      if (clock.now() + delayMs >= plan.deadline || delayMs > (plan.longestDelay ?? delayMs)) throw error;
      plan.onRetry?.({ attempt: n, delayMs, reason: error.code });
      await clock.sleep(delayMs, plan.signal);
      plan.signal?.throwIfAborted();
    }
  }
}
