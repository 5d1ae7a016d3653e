/** The daemon's clock in the hands of a test: nothing falls due before it says so. */
import type { DaemonClock } from '../../src/daemon/clock.ts';

interface Timer {
  dueUs: number;
  ms: number;
  run: () => void;
}

export class TestDaemonClock implements DaemonClock {
  #us = 1_000_000;
  #asleepMs = 0;
  readonly #timers = new Set<Timer>();

  nowUs = (): number => this.#us;
  now = (): number => Date.parse('2026-03-02T09:00:00.000Z') + this.#us / 1_000 + this.#asleepMs;

  after(ms: number, run: () => void): () => void {
    const timer = { dueUs: this.#us + ms * 1_000, ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** The machine sleeps: the wall clock goes on, the monotonic one and the timers stand still. */
  sleep(ms: number): void {
    this.#asleepMs += ms;
  }

  /** How long the timers that run now were set for. */
  timers(): number[] {
    return [...this.#timers].map(({ ms }) => ms).sort((a, b) => a - b);
  }

  /** Moves time forward; what falls due runs in its order, with what follows from it. */
  async advance(ms: number): Promise<void> {
    await settled();
    const endUs = this.#us + ms * 1_000;
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.dueUs - b.dueUs)[0];
      if (!next || next.dueUs > endUs) break;
      this.#timers.delete(next);
      this.#us = Math.max(this.#us, next.dueUs);
      next.run();
      await settled();
    }
    this.#us = endUs;
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
