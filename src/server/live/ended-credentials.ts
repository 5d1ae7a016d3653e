/**
 * With several processes an ended credential must end its streams and waits within a second, whatever happened to the
 * wake-ups: every half second all credentials in use here are read in one batch.
 */
import { Refusal } from '../../contract/errors.ts';
import { type Clock, repeat } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { authenticateAll } from '../operation/caller.ts';
import type { Holder } from './rights.ts';

const EVERY_MS = 500;

/** A holder whose credential is watched. */
export interface Watched {
  holder: Holder;
  recheck(): unknown;
}

/** @returns a function that stops it. */
export const sweepCredentials = (db: Database, clock: Clock, watched: () => Iterable<Watched>): (() => void) =>
  repeat(clock, EVERY_MS, async () => {
    const all = [...watched()];
    // While the database is away nothing is known; the next sweep asks again.
    const working = all.length > 0 ? await workingOf(db, all).catch(() => null) : null;
    for (const one of all) if (working && !working.has(hex(one))) one.recheck();
  });

const hex = ({ holder }: Watched): string => holder.credential.digest.toString('hex');

/** Each credential is read once, however many streams and waits it holds. */
async function workingOf(db: Database, all: Watched[]): Promise<Set<string>> {
  const credentials = new Map(all.map((one) => [hex(one), one.holder.credential]));
  const found = await db.read((tx) => authenticateAll(tx, [...credentials.values()]), { ahead: true });
  return new Set([...credentials.keys()].filter((_, index) => !(found[index] instanceof Refusal)));
}
