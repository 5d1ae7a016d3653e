/** A clock that runs as it does, and can be moved on: what is due by then happens at once. */
import { type DaemonClock, realClock } from '../../../src/daemon/clock.ts';

interface Due {
  atUs: number;
  run: () => void;
}

export class StepClock implements DaemonClock {
  #aheadUs = 0;
  readonly #due = new Set<Due>();

  nowUs = (): number => realClock.nowUs() + this.#aheadUs;
  now = (): number => Date.now() + Math.round(this.#aheadUs / 1000);

  after = (ms: number, run: () => void): (() => void) => {
    const due: Due = { atUs: this.nowUs() + Math.round(ms * 1000), run };
    this.#due.add(due);
    const timer = setTimeout(() => this.#fire(due), ms);
    timer.unref();
    return () => {
      clearTimeout(timer);
      this.#due.delete(due);
    };
  };

  /** Moves on by this long; timers that fall due run in their order. */
  pass(ms: number): void {
    const endUs = this.nowUs() + Math.round(ms * 1000);
    for (;;) {
      const [next] = [...this.#due].filter(({ atUs }) => atUs <= endUs).sort((a, b) => a.atUs - b.atUs);
      if (!next) break;
      this.#aheadUs += Math.max(0, next.atUs - this.nowUs());
      this.#fire(next);
    }
    this.#aheadUs += Math.max(0, endUs - this.nowUs());
  }

  #fire(due: Due): void {
    if (this.#due.delete(due)) due.run();
  }
}
