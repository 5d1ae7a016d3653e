/** Reads that many events ask for: once a moment, and one after the other. */

const MOMENT_MS = 150;

/** Work that is done a moment after it was asked for; asked for again within that moment, it is still done once. */
export class Soon {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly work: () => void;

  constructor(work: () => void) {
    this.work = work;
  }

  ask(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.work();
    }, MOMENT_MS);
  }

  /** Work that was asked for is not done. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

/** Never does the work twice at a time: calls that come meanwhile are one more run, and wait for it. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;
  const run = async (): Promise<void> => {
    try {
      do {
        again = false;
        await work();
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
