/** Waiting, with a clock that tests replace. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as that is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay a timer takes; a longer one would fire at once. */
export const MAX_TIMER = 2 ** 31 - 1;

/** The time of day when the process began, and what has passed since: a clock that is set changes no wait. */
export const steadyNow = (): number => performance.timeOrigin + performance.now();

/** How long something was under way, what goes on at once counted once. */
export class Stopwatch {
  private readonly now: Clock['now'];
  private before = 0;
  private running = 0;
  private since = 0;

  constructor(now: Clock['now']) {
    this.now = now;
  }

  /** Milliseconds so far. */
  get ms(): number {
    return this.running > 0 ? this.before + this.now() - this.since : this.before;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.running++ === 0) this.since = this.now();
    try {
      return await work();
    } finally {
      const { ms } = this;
      if (--this.running === 0) this.before = ms;
    }
  }
}

/** By the timers of the platform. */
export const sleep = sleepBy((ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
});

/** A `sleep` by these timers. @param after runs a function after `ms`; returns what cancels that */
export function sleepBy(after: (ms: number, run: () => void) => () => void): Clock['sleep'] {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = after(Math.min(Math.max(ms, 0), MAX_TIMER), () => {
        signal?.removeEventListener('abort', aborted);
        resolve();
      });
      const aborted = () => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', aborted, { once: true });
    });
}

/**
 * Guards one exchange: a limit for the phase it is in, and a deadline for all of it. Arming it again is cheap enough
 * to do for every chunk, because a running timer is kept and only looks at the new limit when it fires.
 */
export class Watchdog {
  /** The phase whose limit ran out, or `total`; null while none did. */
  expired: string | null = null;

  private readonly clock: Clock;
  private readonly deadline: number;
  private readonly onExpire: () => void;
  private timer: AbortController | null = null;
  private wakesAt = Number.POSITIVE_INFINITY;
  private due = Number.POSITIVE_INFINITY;
  private phase = '';
  private stopped = false;

  constructor(clock: Clock, deadline: number, onExpire: () => void) {
    this.clock = clock;
    this.deadline = deadline;
    this.onExpire = onExpire;
  }

  /** From now on, `ms` until `phase` counts as too slow. */
  arm(ms: number, phase: string): void {
    const limit = this.clock.now() + ms;
    this.due = Math.min(limit, this.deadline);
    this.phase = limit < this.deadline ? phase : 'total';
    if (!this.stopped && this.due < this.wakesAt) this.schedule();
  }

  /** Stops the limit of the phase; only the deadline remains. */
  rest(): void {
    this.due = this.deadline;
    this.phase = 'total';
  }

  stop(): void {
    this.stopped = true;
    this.timer?.abort();
  }

  private schedule(): void {
    this.timer?.abort();
    const timer = new AbortController();
    this.timer = timer;
    this.wakesAt = this.due;
    const wake = () => {
      if (!timer.signal.aborted) this.wake();
    };
    this.clock.sleep(this.due - this.clock.now(), timer.signal).then(wake, () => {});
  }

  private wake(): void {
    this.wakesAt = Number.POSITIVE_INFINITY;
    if (this.due === Number.POSITIVE_INFINITY) return;
    if (this.clock.now() < this.due) {
      this.schedule();
      return;
    }
    this.expired = this.phase;
    this.stopped = true;
    this.onExpire();
  }
}
