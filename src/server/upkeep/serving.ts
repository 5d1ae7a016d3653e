/** Notes that the server is there, by which the next start knows how long nobody could report. */
import type { Logger } from 'pino';
import type { Repeat } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { noteReturn, noteServing, servesAnybody } from '../seats/outages.steps.ts';

const EVERY_MS = 25_000;

/** Every 25 seconds, and once more at the end. @returns a function that stops it */
export function keepServing(db: Database, repeat: Repeat, log: Logger): () => Promise<void> {
  const note = async (): Promise<void> => {
    try {
      // An idle server writes nothing.
      if (await db.read(servesAnybody)) await db.write(noteServing);
    } catch (error) {
      log.error({ err: error }, 'noting that the server is there failed; it is tried again');
    }
  };
  const stop = repeat(EVERY_MS, note);
  return () => {
    stop();
    return note();
  };
}

/** The database can be reached again. */
export const noteReachable = (db: Database, log: Logger): Promise<void> =>
  db.write(noteReturn).catch((error: unknown) => {
    log.error({ err: error }, 'noting since when the database can be reached failed');
  });
