/** Counting attempts where there is one process. */
import { MINUTE } from '../../contract/durations.ts';
import type { Share, Taken, Tally } from './attempts.ts';
import { Windows } from './window.ts';

interface Bucket {
  counted: Windows;
  /** Attempts under way. */
  held: Map<string, number>;
}

export class MemoryTally implements Tally {
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(now: () => number) {
    this.#now = now;
  }

  async take(name: string, shares: Share[], held: boolean): Promise<Taken> {
    const bucket = this.#bucket(name);
    const now = this.#now();
    for (const [index, { subject, limit }] of shares.entries()) {
      const counted = bucket.counted.count(subject, now);
      const underWay = bucket.held.get(subject) ?? 0;
      if (counted + underWay >= limit) {
        if (held) for (const share of shares.slice(0, index)) release(bucket, share.subject);
        return counted >= limit ? 'over' : 'busy';
      }
      if (held) bucket.held.set(subject, underWay + 1);
      else bucket.counted.add(subject, now);
    }
    return 'taken';
  }

  async giveBack(name: string, shares: Share[], failed: boolean): Promise<void> {
    const bucket = this.#bucket(name);
    for (const { subject } of shares) {
      release(bucket, subject);
      if (failed) bucket.counted.add(subject, this.#now());
    }
  }

  #bucket(name: string): Bucket {
    const known = this.#buckets.get(name);
    if (known) return known;
    const made = { counted: new Windows(MINUTE), held: new Map<string, number>() };
    this.#buckets.set(name, made);
    return made;
  }
}

function release({ held }: Bucket, subject: string): void {
  const left = (held.get(subject) ?? 0) - 1;
  if (left > 0) held.set(subject, left);
  else held.delete(subject);
}
