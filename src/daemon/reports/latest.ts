/** Writes the latest value of something that changes often: one write at a time, with a minimum interval. */
import type { DaemonClock } from '../clock.ts';

interface LatestWriterOptions<T> {
  clock: DaemonClock;
  /** Minimum milliseconds between the starts of two writes. */
  gapMs: number;
  /** Milliseconds after which an unchanged value is written again; 0 for never. @param error of the last write */
  renewMs(value: T, error: unknown): number;
  same(a: T, b: T): boolean;
  write(value: T): Promise<void>;
  onError(error: unknown): void;
}

export class LatestWriter<T> {
  readonly #options: LatestWriterOptions<T>;
  #next: { value: T } | null = null;
  #written: { value: T } | null = null;
  /** What was written may not be there any more. */
  #lost = false;
  /** Why the last write failed; null if it did not. */
  #error: unknown = null;
  #startedUs = Number.NEGATIVE_INFINITY;
  #writing = false;
  #stopped = false;
  #cancel: () => void = () => {};

  constructor(options: LatestWriterOptions<T>) {
    this.#options = options;
  }

  /** The last value that was set is not written yet. */
  get isWaiting(): boolean {
    return this.#next !== null;
  }

  /** @param delayMs how long the value must stay the latest before it is written */
  set(value: T, delayMs = 0): void {
    const written = this.#lost ? null : this.#written;
    const known = this.#next ?? written;
    if (this.#stopped) return;
    if (known && this.#options.same(known.value, value)) {
      if (this.#next) this.#next = { value };
      return;
    }
    // The value changed back before the change was written.
    if (!this.#writing && written && this.#options.same(written.value, value)) {
      this.#next = null;
      this.#scheduleRenewal(value);
      return;
    }
    this.#next = { value };
    this.#schedule(delayMs);
  }

  /** Writes the last value again, if there is one. */
  renew(): void {
    this.#next ??= this.#written;
    if (this.#next) this.#schedule(0);
  }

  /** What was written may not be there any more: set again, the same value is written again. */
  lost(): void {
    this.#lost = true;
  }

  /** Writes nothing more until it is set again. A write that is under way goes on. */
  forget(): void {
    this.#cancel();
    this.#next = null;
    this.#written = null;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #schedule(delayMs: number): void {
    this.#cancel();
    if (this.#writing || this.#stopped) return;
    const { clock, gapMs } = this.#options;
    const sinceMs = (clock.nowUs() - this.#startedUs) / 1_000;
    const ms = Math.max(delayMs, Math.ceil(gapMs - sinceMs), 0);
    if (ms === 0) void this.#write();
    else this.#cancel = clock.after(ms, () => void this.#write());
  }

  async #write(): Promise<void> {
    const next = this.#next ?? this.#written;
    if (!next || this.#stopped) return;
    this.#next = null;
    this.#written = next;
    this.#lost = false;
    this.#writing = true;
    this.#startedUs = this.#options.clock.nowUs();
    this.#error = null;
    try {
      await this.#options.write(next.value);
    } catch (error) {
      this.#error = error;
      this.#options.onError(error);
    }
    this.#writing = false;
    if (this.#next) this.#schedule(0);
    else this.#scheduleRenewal(next.value);
  }

  #scheduleRenewal(value: T): void {
    this.#cancel();
    const ms = this.#options.renewMs(value, this.#error);
    if (ms > 0 && !this.#stopped) this.#cancel = this.#options.clock.after(ms, () => void this.#write());
  }
}
