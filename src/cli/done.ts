/** Remembers whether this run has changed anything on a server yet. An error message says so. */

let done = false;

/** A server or the daemon has acknowledged a change. */
export function noteDone(): void {
  done = true;
}

export const isDone = (): boolean => done;
