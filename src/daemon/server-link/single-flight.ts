/** Runs a job one at a time: calls during a run share the next run. */

export class SingleFlight<T> {
  readonly #job: () => Promise<T>;
  #running: Promise<T> | null = null;
  #next: Promise<T> | null = null;

  constructor(job: () => Promise<T>) {
    this.#job = job;
  }

  /** The result of a run that starts after this call. */
  run(): Promise<T> {
    if (!this.#running) return this.#start();
    this.#next ??= this.#running.then(ignore, ignore).then(() => {
      this.#next = null;
      return this.#start();
    });
    return this.#next;
  }

  #start(): Promise<T> {
    const running = this.#job().finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }
}

const ignore = (): void => {};
