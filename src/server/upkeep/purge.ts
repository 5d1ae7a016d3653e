/** Deletes rows that have expired. */
import type { Logger } from 'pino';
import { sweepOnboarding } from '../approvals/sweep.steps.ts';
import { purgeLoginCodes, purgeSessions } from '../browsers/sessions.store.ts';
import type { Repeat } from '../db/clock.ts';
import type { Database, WriteTx } from '../db/tx.ts';
import { purgeDelegations } from '../delegations/delegations.store.ts';
import { purgeRequests } from '../machines/machines.store.ts';
import { purgeKept } from '../operation/idempotency.store.ts';

const EVERY_MS = 600_000;
const BATCH = 1_000;

/** What passes its end, and how up to `limit` of it are removed; each answers how many it removed. */
const sweeps: Record<string, (tx: WriteTx, limit: number) => Promise<number>> = {
  'kept answers': purgeKept,
  'browser sessions': purgeSessions,
  'login codes': purgeLoginCodes,
  'machine requests': purgeRequests,
  delegations: purgeDelegations,
};

/** Purges at the start and every 10 minutes, in batches, so that no write waits long. @returns a function that stops it. */
export const schedulePurge = (db: Database, repeat: Repeat, log: Logger): (() => void) =>
  schedule(sweeps, EVERY_MS, db, repeat, log);

/** What agents asked for and time has ended: every minute, at most 500 rows at once. */
export const scheduleClosings = (db: Database, repeat: Repeat, log: Logger): (() => void) =>
  schedule({ requests: (tx) => sweepOnboarding(tx, 500) }, 60_000, db, repeat, log);

const schedule = (jobs: typeof sweeps, every: number, db: Database, repeat: Repeat, log: Logger): (() => void) =>
  repeat(every, async (stopped) => {
    for (const [what, sweep] of Object.entries(jobs)) {
      try {
        while (!stopped() && (await db.write((tx) => sweep(tx, BATCH))) === BATCH) {
          // A full batch: there is more.
        }
      } catch (error) {
        log.error({ err: error, what }, 'removing what has passed its end failed; it is tried again');
      }
    }
  });
