/** Notes that the server is there, by which its next start, or the return of its database, knows how long nobody could report. */
import type { Logger } from 'pino';
import type { Clock, Repeat } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { noteReturn, noteServing, servesAnybody } from '../seats/outages.steps.ts';

const EVERY_MS = 25_000;
/** Until a return is noted, those who could not report can be given up. */
const AGAIN_MS = 1_000;

export class Serving {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  #reachable = true;
  /** The database was away, or took no writes, which is not noted yet. */
  #returns = false;

  constructor(db: Database, clock: Clock, log: Logger) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  /** Every 25 seconds, a return every second until it is noted, and once more at the end. @returns a function that stops it */
  keep(repeat: Repeat): () => Promise<void> {
    const stop = repeat(EVERY_MS, () => this.#note());
    const stopAgain = repeat(AGAIN_MS, async () => void (await this.hasNoted()));
    return () => {
      stop();
      stopAgain();
      return this.#note();
    };
  }

  /** Whether the database can be reached has changed. */
  async setReachable(reachable: boolean): Promise<void> {
    this.#reachable = reachable;
    this.#returns = true;
    await this.#note();
  }

  /** Whether those who could not report have the time that they are given for it; notes it first where it can. */
  async hasNoted(): Promise<boolean> {
    if (this.#returns) await this.#note('debug');
    return !this.#returns;
  }

  /** @param level of its failure, of which the one every 25 seconds is told. */
  async #note(level: 'error' | 'debug' = 'error'): Promise<void> {
    if (!this.#reachable) return;
    // What is written after an outage that it had to wait for was true before it.
    const now = this.#clock.now();
    try {
      if (this.#returns) {
        await this.#db.write(noteReturn);
        this.#returns = false;
        // An idle server writes nothing.
      } else if (await this.#db.read(servesAnybody)) await this.#db.write((tx) => noteServing(tx, now));
    } catch (error) {
      // Where this could not be written, no report could.
      this.#returns = true;
      this.#log[level]({ err: error }, 'noting that the server is there failed; it is tried again');
    }
  }
}
