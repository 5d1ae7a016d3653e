/** Whether this run has changed something already, which stands whatever else goes wrong. */

let done = false;

/** A server or the daemon has acknowledged a change. */
export function noteDone(): void {
  done = true;
}

export const isDone = (): boolean => done;
