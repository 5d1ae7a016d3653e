/** Locks by name within this process, given in the order in which they were asked for. */
import type { Clock } from './clock.ts';

export class NamedLocks {
  /** Who waits for each name that is held, in order. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns a function that frees it; null when it was not free within `waitMs`. */
  claim(name: string, waitMs: number): Promise<(() => void) | null> {
    const queue = this.#waiting.get(name);
    if (!queue) {
      this.#waiting.set(name, []);
      return Promise.resolve(this.#releaseOf(name));
    }
    if (waitMs <= 0) return Promise.resolve(null);
    return new Promise((resolve) => {
      const turn = (): void => {
        cancel();
        resolve(this.#releaseOf(name));
      };
      const cancel = Number.isFinite(waitMs)
        ? this.#clock.after(waitMs, () => {
            queue.splice(queue.indexOf(turn), 1);
            resolve(null);
          })
        : () => {};
      queue.push(turn);
    });
  }

  #releaseOf(name: string): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.get(name)?.shift();
      if (next) next();
      else this.#waiting.delete(name);
    };
  }
}
