/** Time that runs, and can be moved forward. */
import type { Clock } from '../../src/server/db/clock.ts';

interface Timer {
  at: number;
  ms: number;
  fn: () => void;
}

export class TestClock implements Clock {
  readonly #timers = new Set<Timer>();
  #offset = 0;
  #longest = Number.POSITIVE_INFINITY;
  readonly #late: Timer[] = [];
  #stoppedAt: number | null = null;

  offset(): number {
    return this.#offset;
  }

  now(): number {
    return (this.#stoppedAt ?? Date.now()) + this.#offset;
  }

  after(ms: number, fn: () => void): () => void {
    const timer: Timer = { at: this.now() + ms, ms, fn };
    this.#timers.add(timer);
    const real = setTimeout(() => this.#stoppedAt ?? this.#fire(timer), Math.min(Math.max(ms, 0), 2_147_483_647));
    real.unref();
    return () => {
      clearTimeout(real);
      this.#timers.delete(timer);
    };
  }

  /** How many timers of exactly this length are running: shows that something has begun to wait. */
  waiting(ms: number): number {
    return [...this.#timers].filter((timer) => timer.ms === ms).length;
  }

  /** Moves time forward; what falls due fires at once, in order. */
  advance(ms: number): void {
    this.#offset += ms;
    const due = [...this.#timers].filter((timer) => timer.at <= this.now()).sort((a, b) => a.at - b.at);
    for (const timer of due) this.#fire(timer);
  }

  /** Lets time pass by `advance` alone, however long the test takes. @returns what lets it run again */
  stop(): () => void {
    this.#stoppedAt = Date.now();
    return () => {
      this.#stoppedAt = null;
      this.advance(0);
    };
  }

  /** Moves to the beginning of the next minute, so that what is counted by the minute ends in the one it began in. */
  nextMinute(): void {
    this.advance(60_000 - (this.now() % 60_000) + 50);
  }

  /** What comes about although no timer longer than `ms` fires: within that time on a machine that is never busy. */
  async within<T>(ms: number, happens: () => Promise<T>): Promise<T> {
    const release = this.holdBack(ms);
    try {
      return await happens();
    } finally {
      release();
    }
  }

  /** Keeps timers longer than `ms` from firing. @returns what lets them, and fires those that fell due */
  holdBack(ms: number): () => void {
    this.#longest = ms;
    return () => {
      this.#longest = Number.POSITIVE_INFINITY;
      for (const timer of this.#late.splice(0)) this.#fire(timer);
    };
  }

  #fire(timer: Timer): void {
    if (timer.ms > this.#longest && this.#timers.has(timer)) this.#late.push(timer);
    else if (this.#timers.delete(timer)) timer.fn();
  }
}
