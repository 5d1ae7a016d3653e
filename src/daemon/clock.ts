import { MAX_TIMER } from '../client/time.ts';

/** The daemon's clock. Timers use the monotonic clock, so that they do not fire when the wall clock changes. */
export interface DaemonClock {
  /** Microseconds of the machine's monotonic clock, the same in all processes. */
  nowUs(): number;
  /** Milliseconds since the epoch: for records, never to measure a delay. */
  now(): number;
  /** Runs a function once after `ms`, or after the longest time that a timer can wait. @returns a function that cancels it */
  after(ms: number, run: () => void): () => void;
}

export const realClock: DaemonClock = {
  nowUs: () => Number(process.hrtime.bigint() / 1000n),
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, MAX_TIMER));
    return () => clearTimeout(timer);
  },
};

/** Runs a function repeatedly, `ms` after its previous run ended. @returns a function that stops it */
export function every(clock: DaemonClock, ms: number, run: () => void | Promise<void>): () => void {
  let stopped = false;
  let cancel = (): void => {};
  const next = (): void => {
    if (stopped) return;
    cancel = clock.after(ms, () => {
      void Promise.resolve(run()).finally(next);
    });
  };
  next();
  return () => {
    stopped = true;
    cancel();
  };
}

/** The result of `work`, or of `onTimeout` after `ms`. A later result or error of `work` is ignored. */
export function withTimeout<T, L>(
  clock: DaemonClock,
  ms: number,
  work: Promise<T>,
  onTimeout: () => L,
): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      try {
        resolve(onTimeout());
      } catch (error) {
        reject(error);
      }
    });
    work.then(resolve, reject).finally(cancel);
  });
}

/** A clock that runs a timer's function again after `ms` when it throws an error that `shouldRetry` accepts. */
export function retryingClock(clock: DaemonClock, ms: number, shouldRetry: (error: unknown) => boolean): DaemonClock {
  const after: DaemonClock['after'] = (wait, run) => {
    let cancel = (): void => {};
    const attempt = (): void => {
      try {
        run();
      } catch (error) {
        if (!shouldRetry(error)) throw error;
        cancel = clock.after(ms, attempt);
      }
    };
    cancel = clock.after(wait, attempt);
    return () => cancel();
  };
  return { ...clock, after };
}

/** A clock whose timers can all be cancelled: after `end` no timer fires and none can be started. */
export function cancellableClock(clock: DaemonClock): { clock: DaemonClock; end: () => void } {
  const cancels = new Set<() => void>();
  let ended = false;
  const after: DaemonClock['after'] = (ms, run) => {
    if (ended) return () => {};
    const cancel = clock.after(ms, () => {
      cancels.delete(cancel);
      run();
    });
    cancels.add(cancel);
    return () => {
      cancels.delete(cancel);
      cancel();
    };
  };
  const end = (): void => {
    ended = true;
    for (const cancel of cancels) cancel();
    cancels.clear();
  };
  return { clock: { ...clock, after }, end };
}
