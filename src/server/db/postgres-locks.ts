/**
 * Locks by name among all processes of one database: the engine's session locks, all on one connection of this process,
 * which is opened for the first of them. A lock is asked for again and again rather than waited for, because whoever
 * waits on a connection keeps it from everybody else. A connection that is lost takes its locks with it; what is still
 * held is asked for anew.
 */
import pg from 'pg';
import type { Clock } from './clock.ts';
import { NamedLocks } from './named-locks.ts';

const TRY_MS = 50;
const RECONNECT_MS = 1_000;
/** An arbitrary constant: keeps these locks apart from those that end with a transaction. */
const SPACE = 7_400_003;

export class PostgresLocks {
  readonly #url: string;
  readonly #clock: Clock;
  /** Session locks do not tell their holders within one session apart. */
  readonly #local: NamedLocks;
  readonly #held = new Set<string>();
  #connection: Promise<pg.Client> | null = null;
  /** One query at a time: the next begins when this has ended. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(url: string, clock: Clock) {
    this.#url = url;
    this.#clock = clock;
    this.#local = new NamedLocks(clock);
  }

  /** @returns a function that frees it; null when it was not free within `waitMs`. */
  async claim(name: string, waitMs: number): Promise<(() => Promise<void>) | null> {
    const until = this.#clock.now() + waitMs;
    const release = await this.#local.claim(name, waitMs);
    if (!release) return null;
    try {
      while (!(await this.#take(name))) {
        if (this.#clock.now() + TRY_MS > until) {
          release();
          return null;
        }
        await new Promise<void>((resolve) => void this.#clock.after(TRY_MS, resolve));
      }
    } catch (error) {
      release();
      throw error;
    }
    this.#held.add(name);
    return async () => {
      if (!this.#held.delete(name)) return;
      // If it cannot be said, the connection is gone, and the lock with it.
      await this.#query('pg_advisory_unlock', name).catch(() => {});
      release();
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connection = await this.#connection?.catch(() => null);
    await connection?.end().catch(() => {});
  }

  #take(name: string): Promise<boolean> {
    return this.#query('pg_try_advisory_lock', name);
  }

  #query(fn: string, name: string): Promise<boolean> {
    const next = this.#last.then(() => this.#ask(fn, name));
    this.#last = next.catch(() => {});
    return next;
  }

  async #ask(fn: string, name: string): Promise<boolean> {
    this.#connection ??= this.#connect();
    const { rows } = await (await this.#connection).query(`SELECT ${fn}(${SPACE}, hashtext($1)) AS done`, [name]);
    return (rows[0] as { done: boolean }).done;
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#url, application_name: 'service locks', keepAlive: true });
    const lost = (): void => this.#lost();
    client.once('error', lost);
    client.once('end', lost);
    try {
      await client.connect();
    } catch (error) {
      this.#connection = null;
      throw error;
    }
    return client;
  }

  #lost(): void {
    this.#connection = null;
    if (this.#closed || this.#held.size === 0) return;
    this.#clock.after(RECONNECT_MS, () => {
      if (this.#closed || this.#connection) return;
      Promise.all([...this.#held].map((name) => this.#take(name))).catch(() => this.#lost());
    });
  }
}
