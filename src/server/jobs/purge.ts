/** Removes what has passed its end. */
import type { Logger } from 'pino';
import type { Clock } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { purgeKept } from '../operation/idempotency.store.ts';

const EVERY_MS = 600_000;
const BATCH = 1_000;

/** Purges now and every 10 minutes, in batches, so that no write waits long. @returns a function that stops it. */
export function schedulePurge(db: Database, clock: Clock, log: Logger): () => void {
  let cancel = () => {};
  let stopped = false;
  const run = async (): Promise<void> => {
    try {
      while (!stopped && (await db.write((tx) => purgeKept(tx, BATCH))) === BATCH) {
        // A full batch: there is more.
      }
    } catch (error) {
      log.error({ err: error }, 'purging kept answers failed; it is tried again');
    }
    if (!stopped) cancel = clock.after(EVERY_MS, () => void run());
  };
  void run();
  return () => {
    stopped = true;
    cancel();
  };
}
