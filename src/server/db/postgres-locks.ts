/**
 * Locks by name among all processes of one database: the engine's session locks, all on one connection of this process,
 * which is opened for the first of them. A lock is polled rather than waited for, because a session that waits on a
 * connection blocks it for all others. A lost connection takes its locks with it; those that are still held are taken
 * again.
 */
import type pg from 'pg';
import type { Clock } from './clock.ts';
import { NamedLocks } from './named-locks.ts';
import { connect, destroy, end, persist, translate } from './postgres-connection.ts';
import type { Claim, ClaimOptions } from './tx.ts';

const TRY_MS = 50;
/** A connection that does not answer for so long is lost. */
const ANSWER_TIMEOUT_MS = 10_000;
/** What another process holds for so long, after a connection was lost, is lost. */
const ELSEWHERE_MS = 30_000;
/** An arbitrary constant: keeps these locks apart from those that end with a transaction. */
const SPACE = 7_400_003;

interface Held extends ClaimOptions {
  /** The connection that holds it; null while it is asked for anew. */
  on: pg.Client | null;
}

export class PostgresLocks {
  readonly #url: string;
  readonly #clock: Clock;
  /** Session locks do not tell their holders within one session apart. */
  readonly #local: NamedLocks;
  readonly #held = new Map<string, Held>();
  #client: pg.Client | null = null;
  /** One query at a time: the next begins when this has ended. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(url: string, clock: Clock) {
    this.#url = url;
    this.#clock = clock;
    this.#local = new NamedLocks(clock);
  }

  /** @returns null when it was not free within `waitMs`. @throws Unreachable */
  async claim(name: string, waitMs: number, options: ClaimOptions = {}): Promise<Claim | null> {
    // One limit for both waits: in this process, and then for another one.
    let late = waitMs <= 0;
    const cancel = late || !Number.isFinite(waitMs) ? () => {} : this.#clock.after(waitMs, () => (late = true));
    const release = await this.#local.claim(name, waitMs);
    if (!release) {
      cancel();
      return null;
    }
    try {
      let on = await this.#take(name, options);
      while (!on && !late) {
        await new Promise<void>((resolve) => void this.#clock.after(TRY_MS, resolve));
        on = await this.#take(name, options);
      }
      if (!on) {
        release();
        return null;
      }
      const taken: Held = { ...options, on };
      this.#held.set(name, taken);
      return Object.assign(() => this.#free(name, release), {
        held: () => this.#answers(on).then((yes) => yes && taken.on === on),
      });
    } catch (error) {
      release();
      throw error;
    } finally {
      cancel();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    await end(this.#client, this.#clock);
  }

  async #free(name: string, release: () => void): Promise<void> {
    const held = this.#held.get(name);
    if (!held) return;
    this.#held.delete(name);
    // If it cannot be said, the connection is gone, and the lock with it.
    await this.#query(`pg_advisory_unlock${suffix(held)}`, name).catch(() => {});
    release();
  }

  /** Answers the connection that holds it now. */
  #take(name: string, options: ClaimOptions): Promise<pg.Client | null> {
    return this.#query(`pg_try_advisory_lock${suffix(options)}`, name);
  }

  /** One after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }

  #query(fn: string, name: string): Promise<pg.Client | null> {
    return this.#inTurn(async () => {
      const client = await this.#connected();
      const [row] = await this.#answer(client, `SELECT ${fn}(${SPACE}, hashtext($1)) AS done`, [name]);
      return row?.done ? client : null;
    });
  }

  async #answer(client: pg.Client, sql: string, values: unknown[]): Promise<{ done: boolean }[]> {
    const cancel = this.#clock.after(ANSWER_TIMEOUT_MS, () => destroy(client));
    try {
      return (await translate(client.query<{ done: boolean }>(sql, values))).rows;
    } finally {
      cancel();
    }
  }

  /** Whether a connection is still there, and with it the locks that were taken on it. */
  #answers(client: pg.Client): Promise<boolean> {
    return this.#inTurn(() => this.#answer(client, 'SELECT true AS done', [])).then(
      () => true,
      () => false,
    );
  }

  async #connected(): Promise<pg.Client> {
    this.#client ??= await this.#connect();
    return this.#client;
  }

  async #connect(): Promise<pg.Client> {
    const client = await connect(this.#url, 'service locks', () => {
      if (this.#client === client) this.#client = null;
      for (const [name, held] of this.#held) if (held.on === client) void this.#takeAgain(name, held);
    });
    return client;
  }

  async #takeAgain(name: string, held: Held): Promise<void> {
    held.on = null;
    let giveUp = false;
    let cancel: (() => void) | undefined;
    const take = async (): Promise<void> => {
      held.on = await this.#take(name, held);
      if (held.on) return;
      cancel ??= this.#clock.after(ELSEWHERE_MS, () => {
        giveUp = true;
      });
      if (!giveUp) throw new Error(`${name} is held elsewhere`);
      held.lost?.();
    };
    await persist(this.#clock, take, () => this.#closed || this.#held.get(name) !== held);
    cancel?.();
  }
}

/** What the names of the engine's functions end with. */
const suffix = ({ shared }: ClaimOptions): string => (shared ? '_shared' : '');
