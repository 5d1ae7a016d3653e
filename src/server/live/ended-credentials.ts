/**
 * With several processes an ended credential must end its streams and waits within a second, whatever happened to the
 * wake-ups: every half second all credentials in use here are read in one batch.
 */
import { Refusal } from '../../contract/errors.ts';
import type { Clock } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { authenticateAll } from '../operation/caller.ts';
import type { Holder } from './rights.ts';

const EVERY_MS = 500;

/** A holder whose credential is watched. */
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

/** Each credential is read once, however many streams and waits it holds. */
async function workingOf(db: Database, all: Watched[]): Promise<Set<string>> {
  const credentials = new Map(all.map((one) => [hex(one), one.holder.credential]));
  const found = await db.read((tx) => authenticateAll(tx, [...credentials.values()]), { ahead: true });
  return new Set([...credentials.keys()].filter((_, index) => !(found[index] instanceof Refusal)));
}
