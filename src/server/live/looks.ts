/** Looks that follow wake-ups: those of a moment are merged, the first of a quiet time is not delayed, and none run side by side. */
import type { Clock } from '../db/clock.ts';

/** After a look that failed. */
const AGAIN_MS = 1_000;
/** Wake-ups of a board or a stream within this many milliseconds are merged. */
export const MERGE_MS = 20;

/** Runs work in the order in which it comes, so many at once. */
export type Bound = <T>(work: () => Promise<T>) => Promise<T>;

/** A bound of its own. @param most how many run at once. */
export function atMost(most: number): Bound {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < most) running++;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

export class Looks {
  readonly #clock: Clock;
  readonly #mergeMs: number;
  readonly #look: () => Promise<void>;
  #last = Number.NEGATIVE_INFINITY;
  #asked = false;
  #looking = false;

  /** @param look is taken again a second later where it fails. */
  constructor(clock: Clock, mergeMs: number, look: () => Promise<void>) {
    this.#clock = clock;
    this.#mergeMs = mergeMs;
    this.#look = look;
  }

  /** Something changed: look soon. */
  wake(): void {
    if (this.#asked) return;
    this.#asked = true;
    if (!this.#looking) this.#plan();
  }

  #plan(): void {
    // Clamped: the clock may be set back.
    const wait = Math.min(this.#last + this.#mergeMs - this.#clock.now(), this.#mergeMs);
    if (wait <= 0) void this.#run();
    else this.#clock.after(wait, () => void this.#run());
  }

  async #run(): Promise<void> {
    this.#asked = false;
    this.#looking = true;
    this.#last = this.#clock.now();
    await this.#look().catch(() => this.#clock.after(AGAIN_MS, () => this.wake()));
    this.#looking = false;
    if (this.#asked) this.#plan();
  }
}
