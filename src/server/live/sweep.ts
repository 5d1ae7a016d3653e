/**
 * With several processes an ended credential must end its streams and waits within a second, whatever happened to the
 * wake-ups: every half second all credentials in use here are read in one batch.
 */
import type { Clock } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { findKeys, findSeats } from '../identity/credentials.store.ts';
import { keyWorks } from '../operation/caller.ts';
import type { Holder } from './rights.ts';

const EVERY_MS = 500;

/** Somebody whose credential is watched. */
export interface Watched {
  holder: Holder;
  recheck(): void;
}

/** @returns a function that stops it. */
export function sweepCredentials(db: Database, clock: Clock, watched: () => Iterable<Watched>): () => void {
  let cancel = () => {};
  let stopped = false;
  const run = async (): Promise<void> => {
    try {
      const all = [...watched()];
      if (all.length > 0) {
        const working = await workingOf(db, all);
        for (const one of all) {
          if (!working.has(hex(one))) one.recheck();
        }
      }
    } catch {
      // The database is away; the next sweep asks again.
    }
    if (!stopped) cancel = clock.after(EVERY_MS, () => void run());
  };
  cancel = clock.after(EVERY_MS, () => void run());
  return () => {
    stopped = true;
    cancel();
  };
}

const hex = ({ holder }: Watched): string => holder.credential.digest.toString('hex');

async function workingOf(db: Database, all: Watched[]): Promise<Set<string>> {
  const digests = (kind: 'PK' | 'AG'): Buffer[] => [
    ...new Map(
      all.filter((one) => one.holder.credential.kind === kind).map((one) => [hex(one), one.holder.credential.digest]),
    ).values(),
  ];
  const [people, seats] = [digests('PK'), digests('AG')];
  return db.read(async (tx) => {
    const keys = people.length > 0 ? await findKeys(tx, people) : [];
    const held = seats.length > 0 ? await findSeats(tx, seats) : [];
    const working = [
      ...keys.filter((key) => keyWorks(key, tx.now)),
      ...held.filter((seat) => seat.status === 'active' && seat.lifecycle !== 'deleted' && keyWorks(seat, tx.now)),
    ];
    return new Set(working.map((row) => row.digest.toString('hex')));
  });
}
