/** Recording that a key is used: at most once a minute, so that reading does not turn into writing. */
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import type { Database } from '../db/tx.ts';
import { recordUse } from '../keys/credentials.store.ts';
import { authenticate, type Caller } from './caller.ts';

const EVERY_MS = 60_000;
const MAX_KEYS = 10_000;

export class LastUse {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #recorded = new Map<string, number>();

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /**
   * Notes a use and, for an idle-expiry key, moves its end. @param now the time the caller was read at.
   * @throws Refusal when the key stopped working meanwhile.
   */
  async note(caller: Caller, now: number): Promise<void> {
    // Its runtime shows a proof by itself: nobody used the key.
    if (caller.kind === 'PC') return;
    const { key_id: id, key_last_used_at: stored } = caller.key;
    const known = Math.max(this.#recorded.get(id) ?? Number.NEGATIVE_INFINITY, stored ?? Number.NEGATIVE_INFINITY);
    // A time in the future means that the clock was set back.
    if (now >= known && now - known < EVERY_MS) return;
    if (this.#recorded.size >= MAX_KEYS) this.#recorded.clear();
    this.#recorded.set(id, now);
    try {
      await this.#db.write(async (tx) => {
        const idle = caller.key.key_idle_seconds;
        // No other row is held beside the key's: a transaction that holds a seat's may be waiting for its key.
        const works = await recordUse(tx, id, idle === null ? null : tx.now + idle * 1000);
        if (works === 0) await authenticate(tx, caller.credential);
      });
    } catch (error) {
      if (error instanceof Refusal) throw error;
      this.#log.warn({ err: error }, 'the use of a key could not be recorded');
    }
  }
}
