/** Counting attempts where there is one process. */
import { MINUTE } from '../../contract/durations.ts';
import type { Tally } from './attempts.ts';
import { msLeft, Windows } from './window.ts';

interface Bucket {
  counted: Windows;
  /** Attempts under way. */
  held: Map<string, number>;
}

export function memoryTally(now: () => number): Tally {
  const buckets = new Map<string, Bucket>();
  const bucketOf = (name: string): Bucket => {
    const bucket = buckets.get(name) ?? { counted: new Windows(MINUTE), held: new Map() };
    buckets.set(name, bucket);
    return bucket;
  };
  return {
    async take(name, shares, held) {
      const bucket = bucketOf(name);
      for (const [index, { subject, limit }] of shares.entries()) {
        const counted = bucket.counted.count(subject, now());
        const underWay = bucket.held.get(subject) ?? 0;
        if (counted + underWay >= limit) {
          if (held) for (const share of shares.slice(0, index)) release(bucket, share.subject);
          return { refused: counted >= limit ? 'over' : 'busy', ms: msLeft(now(), MINUTE) };
        }
        if (held) bucket.held.set(subject, underWay + 1);
        else bucket.counted.add(subject, now());
      }
      return null;
    },
    async giveBack(name, shares, failed) {
      const bucket = bucketOf(name);
      for (const { subject } of shares) {
        release(bucket, subject);
        if (failed) bucket.counted.add(subject, now());
      }
    },
  };
}

function release({ held }: Bucket, subject: string): void {
  const left = (held.get(subject) ?? 0) - 1;
  if (left > 0) held.set(subject, left);
  else held.delete(subject);
}
