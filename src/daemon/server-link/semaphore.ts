/** At most `count` holders at a time; others wait in order. */
export class Semaphore {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async acquire(signal?: AbortSignal | null): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    const release = () => {
      const next = this.#queue.shift();
      if (next) next();
      else this.#free++;
    };
    if (!signal?.aborted) return release;
    release();
    throw signal.reason;
  }
}
