/**
 * Time as the server sees it. `offset` shifts both the process clock and the database's, so that a test can move
 * time on either engine; timers go through the same object, so that nothing has to sleep.
 */
export interface Clock {
  /** Milliseconds added to the engine's own clock. */
  offset(): number;
  /** Milliseconds since the epoch by this process, for timers and logs only; rules use `tx.now`. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds; the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
}

/** Longest delay a timer of the platform takes, about 24 days. */
const MAX_DELAY = 2_147_483_647;

export const systemClock: Clock = {
  offset: () => 0,
  now: () => Date.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), MAX_DELAY));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Runs now, and again so many milliseconds after each end. @returns a function that stops it. */
export function repeat(clock: Clock, every: number, run: (stopped: () => boolean) => Promise<void>): () => void {
  let cancel = () => {};
  let stopped = false;
  const once = async (): Promise<void> => {
    await run(() => stopped);
    if (!stopped) cancel = clock.after(every, () => void once());
  };
  void once();
  return () => {
    stopped = true;
    cancel();
  };
}

/** What `repeatInTurn` answers: `repeat` without its clock. */
export type Repeat = (every: number, run: (stopped: () => boolean) => Promise<void>) => () => void;

/** Repeats several things, of which each runs first when those before it have: together they need one connection. */
export function repeatInTurn(clock: Clock): Repeat {
  let last: Promise<unknown> = Promise.resolve();
  return (every, run) => {
    const before = last;
    const { promise: ran, resolve } = Promise.withResolvers<void>();
    last = ran;
    return repeat(clock, every, async (stopped) => {
      await before;
      if (!stopped()) await run(stopped);
      resolve();
    });
  };
}

/** Whether the work ended within `ms` milliseconds; it goes on if not. @throws what the work throws in that time. */
export async function inTime(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  // Nobody is there any more to hear of a later failure.
  work.catch(() => {});
  let cancel = (): void => {};
  const patience = new Promise<boolean>((resolve) => {
    cancel = clock.after(ms, () => resolve(false));
  });
  return Promise.race([work.then(() => true), patience]).finally(() => cancel());
}
