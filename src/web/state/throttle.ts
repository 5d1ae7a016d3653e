/** Limits how often work that many events ask for runs. */

const DELAY_MS = 150;
/** Least time from the start of a run to that of the next, while events keep coming. */
const INTERVAL_MS = 1_000;

/**
 * Runs a callback `DELAY_MS` after the first `schedule`, and not sooner than an interval after the run before; calls in
 * between are merged into that run.
 */
export class Throttle {
  private last = Number.NEGATIVE_INFINITY;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly callback: () => void;
  private readonly interval: number;

  constructor(work: () => void, interval = INTERVAL_MS) {
    this.callback = work;
    this.interval = interval;
  }

  schedule(): void {
    if (this.timer !== undefined) return;
    const delay = Math.max(DELAY_MS, this.last + this.interval - performance.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.last = performance.now();
      this.callback();
    }, delay);
  }

  /** Drops the scheduled run, if there is one. */
  cancel(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

/** Wraps work so that runs never overlap. Calls during a run share one more run after it, and wait for that. */
export function oneAtATime(callback: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;
  const run = async (): Promise<void> => {
    try {
      do {
        again = false;
        await callback();
      } while (again);
    } finally {
      running = null;
    }
  };
  return () => {
    again = running !== null;
    running ??= run();
    return running;
  };
}
