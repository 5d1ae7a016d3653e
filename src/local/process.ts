/** Other processes of this person. */
import { sleep } from '../client/time.ts';

/** Whether a process of this user with this id runs; a negative id is a process group. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until `done` returns true; false after `ms`. */
export async function until(done: () => boolean | Promise<boolean>, ms: number, every = 50): Promise<boolean> {
  const end = performance.now() + ms;
  for (;;) {
    if (await done()) return true;
    if (performance.now() >= end) return false;
    await sleep(every);
  }
}
