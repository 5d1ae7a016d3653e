/** Waits for work, with a time limit. */
import type { Clock } from '../db/clock.ts';

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
