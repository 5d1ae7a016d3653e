/**
 * With several processes an ended credential must end its streams and waits within a second, whatever happened to the
 * wake-ups: every half second all credentials in use here are read in one batch.
 */
import type { Clock } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { findKeys, findSeats, findSessions } from '../identity/credentials.store.ts';
import { type Credential, keyWorks, sessionWorks } from '../operation/caller.ts';
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
  const digests = (kind: Credential['kind']): Buffer[] => [
    ...new Map(
      all.filter((one) => one.holder.credential.kind === kind).map((one) => [hex(one), one.holder.credential.digest]),
    ).values(),
  ];
  const [keys, sessions, seats] = [digests('PK'), digests('BR'), digests('AG')];
  return db.read(async (tx) => {
    const works = [
      ...(await findKeys(tx, keys)).filter((row) => keyWorks(row, tx.now)),
      ...(await findSessions(tx, sessions)).filter((row) => sessionWorks(row, tx.now)),
      ...(await findSeats(tx, seats)).filter(
        (row) => row.status === 'active' && row.lifecycle !== 'deleted' && keyWorks(row, tx.now),
      ),
    ];
    return new Set(works.map((row) => row.digest.toString('hex')));
  });
}
