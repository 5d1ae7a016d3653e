/** How long to wait before a server that failed is asked again. */

const BASE_MS = 1_000;
const MAX_MS = 60_000;
/** Longest `Retry-After` that is obeyed; a server cannot put a machine to sleep for days. */
const MAX_RETRY_AFTER_MS = 300_000;
/** So long a connection must have held before failures are counted anew. */
const HEALTHY_MS = 60_000;

/**
 * Milliseconds before try number `failures` + 1: doubling from 1 s to 60 s, times a random factor of 0.5 to 1, or what
 * the server asked for, up to 300 s.
 *
 * @param failures in a row so far, from 1. @param random from 0 to below 1. @param retryAfter seconds.
 */
export function backoff(failures: number, random: number, retryAfter?: number): number {
  if (retryAfter !== undefined) return Math.min(MAX_RETRY_AFTER_MS, retryAfter * 1_000);
  return Math.round(Math.min(MAX_MS, BASE_MS * 2 ** (failures - 1)) * (0.5 + random / 2));
}

/** Failures in a row of one connection, forgotten once it has held for a minute. */
export class Backoff {
  readonly #random: () => number;
  #failures = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Counts a failure. @param heldMs how long it had worked before. @returns milliseconds until the next try. */
  nextDelay(heldMs: number, retryAfter?: number): number {
    this.#failures = heldMs >= HEALTHY_MS ? 1 : this.#failures + 1;
    return backoff(this.#failures, this.#random(), retryAfter);
  }

  reset(): void {
    this.#failures = 0;
  }
}
