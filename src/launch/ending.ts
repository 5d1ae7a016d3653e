/** Ends a started process: first with SIGTERM, then with SIGKILL, and never another process with the same number. */
import { until } from '../local/process.ts';
import { isGone, type ProcessRef } from '../local/process-ref.ts';

/** Milliseconds a program has to end by itself before it is killed; both together stay below ten seconds. */
const GRACE_MS = 8_000;
const KILL_TIMEOUT_MS = 1_500;
const INTERVAL_MS = 25;

/** Sends a signal to the process, or with `group` to its whole group. A process that has already ended is ignored. */
export function signalTo(ref: ProcessRef, signal: NodeJS.Signals, group = false): void {
  if (isGone(ref)) return;
  try {
    process.kill(group ? -ref.pid : ref.pid, signal);
  } catch {
    // It ended meanwhile.
  }
}

/** Waits for the process to end by itself, then kills it. @returns whether the process is gone */
export async function waitOrKill(ref: ProcessRef, group = false): Promise<boolean> {
  const gone = () => isGone(ref);
  if (await until(gone, GRACE_MS, INTERVAL_MS)) return true;
  signalTo(ref, 'SIGKILL', group);
  return until(gone, KILL_TIMEOUT_MS, INTERVAL_MS);
}
