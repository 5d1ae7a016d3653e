/**
 * Postgres: a pool, one transaction per write or for those of a moment that may share one, the database's clock as `now`. The
 * engine itself groups commits; what must not run side by side is serialised by the row locks the statements take.
 */
import knex, { type Knex } from 'knex';
import pg from 'pg';
import { Batches } from './batches.ts';
import { type Clock, repeat } from './clock.ts';
import { Contention, Locked, postgresDialect, StalePlan, Unreachable } from './dialect.ts';
import { CONNECT_MS, connect, persist, READ_ONLY, serverFor } from './postgres-connection.ts';
import { forgetServer, knownServer } from './postgres-hosts.ts';
import { PostgresLocks } from './postgres-locks.ts';
import { isDirect, requireSessions } from './postgres-pooler.ts';
import { PostgresTx, QueryNames, Session } from './postgres-tx.ts';
import { PostgresWake } from './postgres-wake.ts';
import type { Allowed, Claim, ClaimOptions, Database, Follower, ReadTx, WriteTx } from './tx.ts';
import { counterOf, versionsOf } from './versions.store.ts';

/**
 * A named statement is planned once a connection, by its indexes alone, as on SQLite: left to itself, Postgres plans most
 * reads anew for each use once it has statistics, which took 3 of the 3.5 ms of a page of messages, and what it planned
 * while a table was small would read all of it. A query whose plan has to depend on its parameters says so.
 *
 * One row leads to the next by an index, too. What joins whole boards pays only for small ones, and is planned for the
 * average board: a page of a board of 100,000 messages beside many small ones took 1 to 5 s, and takes 20 ms.
 */
const PLAN_ONCE = [
  'plan_cache_mode = force_generic_plan',
  ...['seqscan', 'material', 'mergejoin', 'hashjoin'].map((way) => `enable_${way} = off`),
  'jit = off',
];

/** A statement of a read is ended after so many milliseconds. It is what a connection begins with: reads then set nothing. */
const READ_LIMIT_MS = 15_000;
/** The same of a write, which also ends when it says nothing for as long. */
const WRITE_LIMIT_MS = 5_000;
/** How long a write waits for what another one holds. One that shares a transaction goes on by itself then, so that others need not wait. */
const LOCK_LIMIT_MS = { alone: 4_000, shared: 250 };
/** Said once a connection is open: poolers of sessions refuse these when it begins. */
const SETTINGS = [
  ...PLAN_ONCE,
  `statement_timeout = ${READ_LIMIT_MS}`,
  `idle_in_transaction_session_timeout = ${WRITE_LIMIT_MS}`,
]
  .map((setting) => `SET ${setting}`)
  .join('; ');
const RETRIES = 5;
/** Most writes in one transaction. */
const MAX_SHARED = 64;
/** How often connections that owe an answer are checked. */
const CHECK_INTERVAL_MS = 1_000;
/**
 * How much longer than the engine needs to end a statement an answer is waited for: a host that lost its power sends nothing,
 * and TCP would wait for it for a quarter of an hour.
 */
const SILENCE_MS = 5_000;
const patienceAfter = (limit: number): number => (limit + SILENCE_MS) / CHECK_INTERVAL_MS;
/** Most connections of a process for reads and writes. */
export const POOL_SIZE = 16;
/** How long a transaction waits for a connection while others use all of them. */
const POOL_WAIT_MS = 20_000;
/** For how long one more connection is asked for that Postgres has no room for: while others are open, and while none is. */
const FULL_MS = { some: POOL_WAIT_MS, none: 2_000 };
const FULL_PAUSE_MS = { first: 100, most: 2_000 };
const TOO_MANY = '53300';

// Numbers of this product stay below 2^53; the driver would hand bigint over as text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint AS now';
const READ = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT ${NOW}`;
// Every write moves the counter by which other processes notice that something was committed.
const COUNTED = `SELECT nextval('change_counter'), ${NOW}`;
const writeWith = (lockLimit: number): string =>
  `BEGIN; SET LOCAL statement_timeout = ${WRITE_LIMIT_MS}; SET LOCAL lock_timeout = ${lockLimit}; ${COUNTED}`;
const WRITE = writeWith(LOCK_LIMIT_MS.alone);
const SHARED_WRITE = writeWith(LOCK_LIMIT_MS.shared);

/** What shares a transaction. */
interface Job {
  shares: string;
  run(tx: WriteTx): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** A logger for Knex that prints nothing: errors are thrown to the caller, and would only be reported twice. */
export const quietLogger = { warn() {}, error() {}, deprecate() {}, debug() {} };

export class PostgresDatabase implements Database {
  readonly dialect = postgresDialect;
  readonly #url: string;
  readonly #knex: Knex;
  readonly #clock: Clock;
  readonly #locks: PostgresLocks;
  readonly #shared = new Batches<Job>(MAX_SHARED, (batch) => this.#writeTogether(batch));
  /** Writes of boards of which a shared transaction failed, by board, while there are any. */
  readonly #apart = new Map<string, Batches<Job>>();
  readonly #reads: Job[] = [];
  readonly #sessions = new Set<Session>();
  /** All open connections of the pool. */
  readonly #clients = new Set<pg.Client>();
  readonly #names = new QueryNames();
  readonly #stopChecks: () => void;
  #follower: Follower | null = null;
  #wake: PostgresWake | null = null;
  /** No connection can be made; one probe of this process asks for one again and again, and nobody else does. */
  #away = false;
  #closed = false;

  /** @param url what it leaves out comes from the PG* variables. @param poolSize most connections of this process. */
  constructor(url: string, clock: Clock, poolSize = POOL_SIZE) {
    this.#clock = clock;
    this.#url = url;
    this.#locks = new PostgresLocks(url, clock);
    this.#stopChecks = repeat(clock, CHECK_INTERVAL_MS, async () => {
      for (const session of this.#sessions) session.checkAnswers();
    });
    this.#knex = knex({
      client: 'pg',
      connection: async () => {
        const server = await serverFor(url);
        // Another one took over; connections to the former are not used any more.
        for (const client of this.#clients) dispose(client);
        return {
          connectionString: server,
          expirationChecker: () => knownServer(url) !== server,
          application_name: 'service',
          keepAlive: true,
          pipeline: true,
          connectionTimeoutMillis: CONNECT_MS,
        } as Knex.PgConnectionConfig;
      },
      pool: {
        min: 0,
        max: poolSize,
        afterCreate: (client: pg.Client, done: (error: Error | null) => void) => {
          this.#clients.add(client);
          client.once('end', () => this.#clients.delete(client));
          client.query(SETTINGS, done);
        },
      },
      acquireConnectionTimeout: POOL_WAIT_MS,
      log: quietLogger,
    });
    const { client } = this.#knex;
    const open = client.acquireRawConnection.bind(client) as () => Promise<pg.Client>;
    client.acquireRawConnection = () => this.#openOne(open);
  }

  /**
   * Where Postgres has no room for one more, those that are open come free, and a failure would be that of who waits longest for
   * one. So it is asked again, as long as somebody waits, and not for ever.
   */
  async #openOne(open: () => Promise<pg.Client>): Promise<pg.Client> {
    const { pool } = this.#knex.client;
    const began = this.#clock.now();
    for (let pause = FULL_PAUSE_MS.first; ; pause = Math.min(pause * 2, FULL_PAUSE_MS.most)) {
      try {
        return await open();
      } catch (error) {
        const most = this.#clients.size > 0 ? FULL_MS.some : this.#away ? 0 : FULL_MS.none;
        const left = began + most - this.#clock.now();
        const given = (): boolean => this.#closed || pool.numPendingAcquires() === 0;
        if (given() || left <= 0 || (error as { code?: string }).code !== TOO_MANY) throw error;
        await new Promise<void>((resolve) => void this.#clock.after(Math.min(pause, left), resolve));
        if (given()) throw error;
      }
    }
  }

  /** @throws PooledByTransaction where a connection is not kept for its client. */
  async requireSessions(): Promise<void> {
    const client = await this.#acquire();
    const direct = await isDirect(client).finally(() => this.#knex.client.releaseConnection(client));
    if (!direct) await requireSessions(this.#url);
  }

  read<T>(fn: (tx: ReadTx) => Promise<T>, { shares, ahead }: Allowed = {}): Promise<T> {
    if (!shares) return this.#again(READ, (session) => fn(new PostgresTx(session, false)), ahead);
    return new Promise<T>((resolve, reject) => {
      const job = { shares, run: fn, resolve, reject } as Job;
      if (this.#reads.push(job) === 1) setImmediate(() => void this.#readTogether(this.#reads.splice(0)));
    });
  }

  /**
   * Runs what wants to read at this moment on one snapshot, which is taken now. A statement that fails takes all after it with
   * it: these then run by themselves.
   */
  async #readTogether(jobs: Job[]): Promise<void> {
    const again: Job[] = [];
    try {
      const readAll = async (session: Session): Promise<void> => {
        const tx = new PostgresTx(session, false, true);
        const failed = (job: Job) => (error: unknown) => {
          const alone = jobs.length === 1 && !(error instanceof StalePlan);
          if (session.failed && !alone && !(error instanceof Unreachable)) again.push(job);
          else job.reject(error);
        };
        await Promise.all(jobs.map((job) => job.run(tx).then(job.resolve, failed(job))));
      };
      await this.#transaction(READ, readAll, true);
    } catch (error) {
      for (const job of jobs) job.reject(error);
    }
    for (const job of again)
      this.#again(READ, (session) => job.run(new PostgresTx(session, false)), true).then(job.resolve, job.reject);
  }

  write<T>(fn: (tx: WriteTx) => Promise<T>, { shares, ahead }: Allowed = {}): Promise<T> {
    if (!shares) return this.#writeAlone(fn, ahead);
    return new Promise<T>((resolve, reject) => {
      const apart = this.#apart.get(shares);
      const queue = apart?.busy ? apart : this.#shared;
      queue.submit({ shares, run: fn, resolve: resolve as Job['resolve'], reject });
    });
  }

  #writeAlone<T>(fn: (tx: WriteTx) => Promise<T>, ahead?: boolean): Promise<T> {
    return this.#again(WRITE, (session) => fn(new PostgresTx(session, true)), ahead);
  }

  /** Runs a transaction again where the engine asks for it. */
  async #again<T>(begin: string, fn: (session: Session) => Promise<T>, ahead?: boolean): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transaction(begin, fn, ahead);
      } catch (error) {
        if (!(error instanceof Contention) || !error.atOnce || attempt === RETRIES) throw error;
      }
    }
  }

  /**
   * Runs writes in one transaction and tells their answers after the commit. One that is refused before it changed anything is
   * left out. Whatever else fails takes all of them back: those of each board then run apart, which nobody else waits for, and
   * if they did already, each by itself.
   */
  async #writeTogether(batch: Job[], apart = false): Promise<void> {
    const outcomes: (() => void)[] = [];
    try {
      await this.#transaction(
        apart ? WRITE : SHARED_WRITE,
        async (session) => {
          const ran = batch.map(async (job) => {
            const tx = new PostgresTx(session, true, true);
            try {
              const value = await job.run(tx);
              outcomes.push(() => job.resolve(value));
            } catch (error) {
              if (tx.changed || session.failed) throw error;
              outcomes.push(() => job.reject(error));
            } finally {
              tx.done();
            }
          });
          const failed = (await Promise.allSettled(ran)).find((one) => one.status === 'rejected');
          if (failed) throw failed.reason;
        },
        true,
      );
    } catch (error) {
      const impatient = !apart && error instanceof Locked;
      const retryable = impatient || (error instanceof Contention && error.atOnce);
      const timedOut = error instanceof Contention && !error.atOnce;
      // A write that failed by itself fails again, and after a timeout apart another wait gains nothing.
      if (error instanceof Unreachable || (batch.length === 1 && !retryable) || (apart && timedOut))
        for (const job of batch) job.reject(error);
      else if (!apart) for (const job of batch) this.#runApart(job);
      else await Promise.all(batch.map((job) => this.#writeAlone(job.run, true).then(job.resolve, job.reject)));
      return;
    }
    for (const tell of outcomes) tell();
  }

  #runApart(job: Job): void {
    for (const [board, queue] of this.#apart) if (!queue.busy) this.#apart.delete(board);
    const queue =
      this.#apart.get(job.shares) ?? new Batches<Job>(MAX_SHARED, (batch) => this.#writeTogether(batch, true));
    this.#apart.set(job.shares, queue);
    queue.submit(job);
  }

  claim(name: string, waitMs: number, options?: ClaimOptions): Promise<Claim | null> {
    return this.#locks.claim(name, waitMs, options);
  }

  async follow(follower: Follower): Promise<void> {
    this.#follower = follower;
    this.#wake = new PostgresWake(this.#url, this.#clock, follower, {
      counter: () => this.read((tx) => counterOf(tx)),
      versions: (keys) => this.read((tx) => versionsOf(tx, keys)),
    });
    await this.#wake.start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#wake?.close();
    await this.#locks.close();
    await this.#knex.destroy();
    this.#stopChecks();
  }

  async #transaction<T>(begin: string, fn: (session: Session) => Promise<T>, ahead = false): Promise<T> {
    const client = await this.#acquire();
    const patience = patienceAfter(begin === READ ? READ_LIMIT_MS : WRITE_LIMIT_MS);
    const session = new Session(client, this.#names, patience);
    this.#sessions.add(session);
    let committing = false;
    let value: T;
    try {
      const began = session.begin(begin, this.#clock.offset());
      if (!ahead) await began;
      value = await fn(session);
      // Nobody waits for the end of what only read: the next statement on this connection comes after it.
      if (begin === READ) client.query('COMMIT').catch(() => {});
      else
        await session.commit(() => {
          committing = true;
        });
    } catch (error) {
      await session.rollBack();
      if (!(error instanceof Unreachable)) throw error;
      if ((error.cause as { code?: string } | null)?.code === READ_ONLY) forgetServer(this.#url);
      dispose(client);
      // It may have been made, and a repeat would change nothing more.
      if (committing) this.#tell(session);
      throw new Unreachable(error.cause, committing);
    } finally {
      this.#sessions.delete(session);
      if (session.stale) for (const each of this.#clients) dispose(each);
      await this.#knex.client.releaseConnection(client);
    }
    this.#tell(session);
    return value;
  }

  /** Wakes those who watch what a transaction changed, here and in the other processes. */
  #tell({ published }: Session): void {
    if (published.size === 0) return;
    const keys = [...published];
    this.#follower?.committed(keys);
    this.#wake?.send(keys);
  }

  /** A connection of the pool. @throws Unreachable, at once while no connection can be made. */
  async #acquire(): Promise<pg.Client> {
    if (this.#away) throw new Unreachable(null);
    try {
      return (await this.#knex.client.acquireConnection()) as pg.Client;
    } catch (error) {
      if (error instanceof knex.KnexTimeoutError) throw new Contention('no connection is free', false, error);
      // While others are open, those serve.
      if ((error as { code?: string }).code !== TOO_MANY || this.#clients.size === 0) this.#lost(error);
      throw new Unreachable(error);
    }
  }

  #lost(error: unknown): void {
    if (this.#away || this.#closed) return;
    this.#away = true;
    this.#follower?.reachable?.(false, error);
    const probe = async (): Promise<void> => {
      const client = await connect(this.#url, 'service-probe');
      await client.query('SELECT 1').finally(() => client.end());
    };
    const stopped = () => this.#closed;
    void persist(this.#clock, probe, stopped).then(() => {
      this.#away = false;
      if (!this.#closed) this.#follower?.reachable?.(true);
    });
  }
}

/** Marks a connection, as the pool does, that is not to be handed out again. */
function dispose(client: pg.Client): void {
  Object.assign(client, { __knex__disposed: true });
}
