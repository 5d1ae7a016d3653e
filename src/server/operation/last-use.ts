/** Recording that a key is used: at most once a minute, so that reading does not turn into writing. */
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import type { Database } from '../db/tx.ts';
import { recordUse } from '../keys/credentials.store.ts';
import { authenticate, type Caller } from './caller.ts';

const EVERY_MS = 60_000;
const MAX_KEYS = 10_000;

/**
 * What notes a use of a caller, read at `now`, and moves the end of a key that ends when it is not used.
 * It throws a Refusal when the key stopped working meanwhile.
 */
export function recordUses(db: Database, log: Logger): (caller: Caller, now: number) => Promise<void> {
  const recorded = new Map<string, number>();
  return async (caller, now) => {
    // Its runtime shows a proof by itself: nobody used the key.
    if (caller.kind === 'PC') return;
    const { key_id: id, key_last_used_at: stored, key_idle_seconds: idle } = caller.key;
    const known = Math.max(recorded.get(id) ?? Number.NEGATIVE_INFINITY, stored ?? Number.NEGATIVE_INFINITY);
    // A time in the future means that the clock was set back.
    if (now >= known && now - known < EVERY_MS) return;
    if (recorded.size >= MAX_KEYS) recorded.clear();
    recorded.set(id, now);
    try {
      await db.write(async (tx) => {
        // No other row is held beside the key's: a transaction that holds a seat's may be waiting for its key.
        const works = await recordUse(tx, id, idle === null ? null : tx.now + idle * 1000);
        if (works === 0) await authenticate(tx, caller.credential);
      });
    } catch (error) {
      if (error instanceof Refusal) throw error;
      log.warn({ err: error }, 'the use of a key could not be recorded');
    }
  };
}
