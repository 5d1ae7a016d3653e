/** What a simulation is made of: time, cores that are shared in equal parts, threads that do one thing at a time, a disk, locks. */

/** Begins something and is called back when it is done. */
export type Step = (resume: () => void) => void;

/** What is going on: it yields each step that it waits for. */
export type Course = Generator<Step, void, void>;

interface Event {
  at: number;
  run(): void;
}

export class Time {
  now = 0;
  /** A binary heap: no event is due before the first. */
  readonly #events: Event[] = [];

  /** Lets a course go on beside all others. */
  go(course: Course): void {
    const { done, value } = course.next();
    if (!done) value(() => this.go(course));
  }

  /** A step that is done after so many milliseconds. */
  wait(ms: number): Step {
    return (resume) => this.#push({ at: this.now + ms, run: resume });
  }

  /** Runs what happens until then. */
  until(end: number): void {
    for (let next = this.#events[0]; next && next.at <= end; next = this.#events[0]) {
      this.#shift();
      this.now = next.at;
      next.run();
    }
    this.now = end;
  }

  #push(event: Event): void {
    const events = this.#events;
    let at = events.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (events[parent]!.at <= event.at) break;
      events[at] = events[parent]!;
      at = parent;
    }
    events[at] = event;
  }

  #shift(): void {
    const events = this.#events;
    const last = events.pop()!;
    if (events.length === 0) return;
    let at = 0;
    for (let child = 1; child < events.length; child = 2 * at + 1) {
      if (child + 1 < events.length && events[child + 1]!.at < events[child]!.at) child++;
      if (events[child]!.at >= last.at) break;
      events[at] = events[child]!;
      at = child;
    }
    events[at] = last;
  }
}

/** Cores. What runs has one each, or an equal part of them where there are fewer. */
export class Machine {
  /** Milliseconds of work done since this was set to 0. */
  busy = 0;
  readonly #time: Time;
  readonly #cores: number;
  readonly #vary: (ms: number) => number;
  readonly #switchMs: number;
  readonly #running = new Set<{ left: number; resume: () => void }>();
  #since = 0;
  #version = 0;

  /**
   * @param vary how long a piece of work takes that takes so long on average.
   * @param switchMs how much longer a piece takes that begins while all cores have other work: what they keep at hand is not its own.
   */
  constructor(time: Time, cores: number, vary = (ms: number): number => ms, switchMs = 0) {
    this.#time = time;
    this.#cores = cores;
    this.#vary = vary;
    this.#switchMs = switchMs;
  }

  /** A step that is so many milliseconds of work of one core. */
  work(ms: number): Step {
    return (resume) => {
      this.#advance();
      const left = this.#vary(ms) + (this.#running.size < this.#cores ? 0 : this.#switchMs);
      this.busy += left;
      this.#running.add({ left, resume });
      this.#plan();
    };
  }

  /** The part of a core that each has, by what it does with it. */
  get #share(): number {
    return Math.min(this.#cores / this.#running.size, 1);
  }

  #advance(): void {
    const done = (this.#time.now - this.#since) * this.#share;
    this.#since = this.#time.now;
    for (const task of this.#running) task.left -= done;
  }

  #plan(): void {
    const version = ++this.#version;
    let least = Number.POSITIVE_INFINITY;
    for (const { left } of this.#running) least = Math.min(least, left);
    if (least === Number.POSITIVE_INFINITY) return;
    this.#time.wait(Math.max(least, 0) / this.#share)(() => {
      if (version === this.#version) this.#finish();
    });
  }

  #finish(): void {
    this.#advance();
    const done = [...this.#running].filter(({ left }) => left < 1e-9);
    for (const task of done) this.#running.delete(task);
    this.#plan();
    for (const { resume } of done) resume();
  }
}

/** Does one thing after the other, on a machine. */
export class Thread {
  /** Milliseconds of work done since this was set to 0. */
  busy = 0;
  readonly #machine: Machine;
  readonly #queue: { ms: number; resume: () => void }[] = [];
  #working = false;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** A step that is so many milliseconds of work, after all that was asked of the thread before. */
  work(ms: number): Step {
    return (resume) => {
      this.#queue.push({ ms, resume });
      if (!this.#working) this.#next();
    };
  }

  #next(): void {
    const next = this.#queue.shift();
    this.#working = next !== undefined;
    if (!next) return;
    this.busy += next.ms;
    this.#machine.work(next.ms)(() => {
      next.resume();
      this.#next();
    });
  }
}

/** A log that is synced: whoever comes meanwhile waits for the next sync, together with all others. */
export class Disk {
  /** Syncs since this was set to 0. */
  syncs = 0;
  readonly #time: Time;
  readonly #ms: number;
  #waiting: (() => void)[] = [];
  #syncing = false;

  constructor(time: Time, ms: number) {
    this.#time = time;
    this.#ms = ms;
  }

  sync(): Step {
    return (resume) => {
      this.#waiting.push(resume);
      if (!this.#syncing) this.#sync();
    };
  }

  #sync(): void {
    const those = this.#waiting.splice(0);
    this.#syncing = those.length > 0;
    if (!this.#syncing) return;
    this.syncs++;
    this.#time.wait(this.#ms)(() => {
      for (const resume of those) resume();
      this.#sync();
    });
  }
}

/** Locks by number; who waits gets one in the order of coming. */
export class Locks {
  readonly #held = new Map<number, (() => void)[]>();

  take(key: number): Step {
    return (resume) => {
      const waiting = this.#held.get(key);
      if (waiting) waiting.push(resume);
      else {
        this.#held.set(key, []);
        resume();
      }
    };
  }

  free(key: number): void {
    const next = this.#held.get(key)?.shift();
    if (next) next();
    else this.#held.delete(key);
  }
}
