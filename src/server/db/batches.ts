/** Writes that wait while others run, gathered so that they share what comes next. */

/** Most turns of the event loop a write waits for others. */
const MAX_TURNS = 16;
/** Most milliseconds that a batch waits for those who were just answered. */
const MAX_WAIT_MS = 10;

export class Batches<Job> {
  readonly #most: number;
  readonly #run: (batch: Job[]) => Promise<void>;
  #queue: Job[] = [];
  #state: 'idle' | 'waiting' | 'running' = 'idle';
  /** Until when the next batch waits for how many, by `performance.now()`. */
  #until = 0;
  #expected = 1;
  #timer: NodeJS.Timeout | undefined;

  /** @param most jobs in one batch, so that the first of a burst does not wait for all of it. @param run never rejects */
  constructor(most: number, run: (batch: Job[]) => Promise<void>) {
    this.#most = most;
    this.#run = run;
  }

  submit(job: Job): void {
    this.#queue.push(job);
    if (this.#state === 'idle') this.#next();
    else if (this.#state === 'waiting' && this.#queue.length >= this.#expected) this.#start();
  }

  /** Whether anything is queued or running. */
  get busy(): boolean {
    return this.#state !== 'idle';
  }

  /**
   * Who was answered just now often comes again. Where more were answered than wait already, the next batch waits for them too,
   * at most half as long as the last one took: else one that came late would go by itself again and again, and all others
   * would wait for it.
   */
  #next(): void {
    this.#state = 'waiting';
    const left = this.#until - performance.now();
    if (left <= 0 || this.#queue.length >= this.#expected) this.#start();
    else this.#timer = setTimeout(() => this.#start(), left);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#state = 'running';
    this.#gather(0, MAX_TURNS);
  }

  /** Waits for the next turn as long as turns bring more writes: a lone one does not wait, a burst shares its commit. */
  #gather(known: number, turns: number): void {
    setImmediate(() => {
      const queued = this.#queue.length;
      if (queued === known || queued === 1 || queued >= this.#most || turns === 0) void this.#drain();
      else this.#gather(queued, turns - 1);
    });
  }

  async #drain(): Promise<void> {
    const batch = this.#queue.splice(0, this.#most);
    const began = performance.now();
    await this.#run(batch);
    const ended = performance.now();
    const wait = batch.length > this.#queue.length ? Math.min((ended - began) / 2, MAX_WAIT_MS) : 0;
    this.#until = ended + wait;
    this.#expected = Math.min(batch.length + this.#queue.length, this.#most);
    if (this.#queue.length > 0) this.#next();
    else this.#state = 'idle';
  }
}
