/** Ending what was started: asked first, then made to, and only ever the very process that is meant. */
import { until } from '../local/process.ts';
import { isGone, type ProcessRef } from '../local/process-ref.ts';

/** Milliseconds a program has for its own end, before it is made to; together with that less than ten seconds. */
export const GRACE_MS = 8_000;
const HARD_MS = 1_500;
const EVERY_MS = 25;

/** Sends a signal to the process, or with `group` to its whole group; whoever ended meanwhile needs none. */
export function signalTo(ref: ProcessRef, signal: NodeJS.Signals, group = false): void {
  if (isGone(ref)) return;
  try {
    process.kill(group ? -ref.pid : ref.pid, signal);
  } catch {
    // It ended meanwhile.
  }
}

/** Waits for the end that was asked for, then makes it. @returns whether the process is gone */
export async function ended(ref: ProcessRef, group = false, graceMs = GRACE_MS): Promise<boolean> {
  const gone = () => isGone(ref);
  if (await until(gone, graceMs, EVERY_MS)) return true;
  signalTo(ref, 'SIGKILL', group);
  return until(gone, HARD_MS, EVERY_MS);
}
