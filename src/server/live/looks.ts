/** Looks that follow wake-ups: those of a moment are merged, the first of a quiet time is not delayed, and none run side by side. */
import type { Clock } from '../db/clock.ts';

/** After a look that failed. */
const AGAIN_MS = 1_000;

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
