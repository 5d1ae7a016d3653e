/** Delays between retries of requests to a server. */

const BASE_MS = 1_000;
const MAX_MS = 60_000;
/** Longest `Retry-After` that is respected. */
const MAX_RETRY_AFTER_MS = 300_000;
/** A connection that lasted this long resets the count of failures. */
const HEALTHY_MS = 60_000;

/**
 * Milliseconds before the next attempt: doubling from 1 s to 60 s, times a random factor of 0.5 to 1; or the server's
 * `Retry-After`, up to 300 s.
 *
 * @param failures in a row so far, from 1. @param random from 0 to below 1. @param retryAfter seconds.
 */
export function backoff(failures: number, random: number, retryAfter?: number): number {
  if (retryAfter !== undefined) return Math.min(MAX_RETRY_AFTER_MS, retryAfter * 1_000);
  return Math.round(Math.min(MAX_MS, BASE_MS * 2 ** (failures - 1)) * (0.5 + random / 2));
}

/** Counts consecutive failures of a connection; reset once it has lasted for a minute. */
export class Backoff {
  readonly #random: () => number;
  #failures = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Counts a failure. @param heldMs how long the connection lasted. @returns milliseconds until the next attempt */
  nextDelay(heldMs: number, retryAfter?: number): number {
    this.#failures = heldMs >= HEALTHY_MS ? 1 : this.#failures + 1;
    return backoff(this.#failures, this.#random(), retryAfter);
  }

  reset(): void {
    this.#failures = 0;
  }
}
