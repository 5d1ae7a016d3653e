/**
 * Postgres: a pool, one transaction per write, the database's clock as `now`. The engine itself groups commits; what
 * must not run side by side is serialised by the row locks the statements take.
 */
import knex, { type Knex } from 'knex';
import pg from 'pg';
import type { Clock } from './clock.ts';
import { Contention, type Dialect, postgresDialect, Unreachable } from './dialect.ts';
import { quiet } from './knex-logger.ts';
import { CONNECT_MS, connect, persist, translate } from './postgres-connection.ts';
import { PostgresLocks } from './postgres-locks.ts';
import { PostgresWake } from './postgres-wake.ts';
import { builderOf, type Params, type Statement, statement, type Value } from './statement.ts';
import type { Database, Follower, ReadTx, WriteTx } from './tx.ts';
import { counterOf, versionsOf } from './versions.store.ts';

/** A write transaction is cut off after this many milliseconds. */
const WRITE_LIMIT_MS = 5_000;
const RETRIES = 5;
/** An arbitrary constant: the advisory lock of starts. Ends with the connection that holds it. */
const START_LOCK = 7_400_002;

// Numbers of this product stay below 2^53; the driver would hand bigint over as text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
// Every write moves the counter by which other processes notice that something was committed.
const WRITE = "BEGIN; SELECT nextval('change_counter')";
const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint AS now';

const serialiseStatement = statement<{ name: string }>((db, p) =>
  db.select(db.raw('pg_advisory_xact_lock(hashtextextended(?, 0))', [p.name])),
);

/** Queries built per call vary with the length of their lists; each connection keeps what it prepared. */
const MAX_NAMED = 300;
const named = new Map<string, string>();

/** The name under which a built query is prepared, so that it is not parsed and planned at every run. */
function nameOf(sql: string): string | undefined {
  if (!named.has(sql) && named.size < MAX_NAMED) named.set(sql, `q${named.size}`);
  return named.get(sql);
}

class PostgresTx implements ReadTx {
  readonly dialect: Dialect = postgresDialect;
  readonly writable: boolean;
  readonly now: number;
  readonly published = new Set<string>();
  readonly #client: pg.ClientBase;
  readonly #deferred = new Map<string, () => Promise<void>>();

  constructor(client: pg.ClientBase, now: number, writable: boolean) {
    this.writable = writable;
    this.#client = client;
    this.now = now;
  }

  async all<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    return (await this.#prepared(statement, params)).rows as R[];
  }

  async first<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    return (await this.#prepared(statement, params)).rows[0] as R | undefined;
  }

  async query<R>(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<R[]> {
    return (await this.#built(build)).rows as R[];
  }

  async run<P extends Params>(statement: Statement<P, unknown>, params: P): Promise<number> {
    return (await this.#prepared(statement, params)).rowCount ?? 0;
  }

  async change(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<number> {
    return (await this.#built(build)).rowCount ?? 0;
  }

  async serialise(name: string): Promise<void> {
    await this.#prepared(serialiseStatement, { name });
  }

  beforeCommit(key: string, fn: () => Promise<void>): void {
    this.#deferred.set(key, fn);
  }

  publish(key: string): void {
    this.published.add(key);
  }

  async finish(): Promise<void> {
    for (const fn of this.#deferred.values()) await fn();
  }

  #prepared<P extends Params>(statement: Statement<P, unknown>, params: P): Promise<pg.QueryResult> {
    const compiled = statement.for('postgres');
    return translate(this.#client.query({ name: compiled.name, text: compiled.sql, values: compiled.bind(params) }));
  }

  #built(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<pg.QueryResult> {
    const { sql, bindings } = build(builderOf('postgres')).toSQL().toNative();
    // What has no parameters may be several statements, which cannot be prepared.
    const name = bindings.length > 0 ? nameOf(sql) : undefined;
    return translate(this.#client.query({ name, text: sql, values: bindings as Value[] }));
  }
}

export interface PostgresOptions {
  /** `postgres://…`; what it leaves out comes from the PG* variables. */
  url: string;
  /** Most connections of this process. */
  poolSize?: number;
}

export class PostgresDatabase implements Database {
  readonly dialect = postgresDialect;
  readonly #url: string;
  readonly #knex: Knex;
  readonly #clock: Clock;
  readonly #locks: PostgresLocks;
  #follower: Follower | null = null;
  #wake: PostgresWake | null = null;
  /** No connection can be made; one probe of this process asks for one again and again, and nobody else does. */
  #away = false;
  #closed = false;

  constructor(options: PostgresOptions, clock: Clock) {
    this.#clock = clock;
    this.#url = options.url;
    this.#locks = new PostgresLocks(options.url, clock);
    this.#knex = knex({
      client: 'pg',
      connection: {
        connectionString: options.url,
        application_name: 'service',
        statement_timeout: WRITE_LIMIT_MS,
        idle_in_transaction_session_timeout: WRITE_LIMIT_MS,
        keepAlive: true,
        connectionTimeoutMillis: CONNECT_MS,
      } as Knex.PgConnectionConfig,
      pool: { min: 0, max: options.poolSize ?? 16 },
      log: quiet,
    });
  }

  read<T>(fn: (tx: ReadTx) => Promise<T>): Promise<T> {
    return this.#transaction(READ, fn);
  }

  async write<T>(fn: (tx: WriteTx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transaction(WRITE, (tx) => fn(tx as WriteTx));
      } catch (error) {
        if (!(error instanceof Contention) || !error.atOnce || attempt === RETRIES) throw error;
      }
    }
  }

  async alone<T>(fn: () => Promise<T>): Promise<T> {
    // A connection that is lost takes the lock with it; the work under it then fails by itself or is done.
    const holder = await connect(this.#url, 'service start');
    try {
      await translate(holder.query('SELECT pg_advisory_lock($1)', [START_LOCK]));
      return await fn();
    } finally {
      await holder.end().catch(() => {});
    }
  }

  claim(name: string, waitMs: number, lost?: () => void): Promise<(() => Promise<void>) | null> {
    return this.#locks.claim(name, waitMs, lost);
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
  }

  async #transaction<T>(begin: string, fn: (tx: PostgresTx) => Promise<T>): Promise<T> {
    const client = await this.#acquire();
    let committing = false;
    let tx: PostgresTx;
    let value: T;
    try {
      const began = (await translate(client.query(`${begin}; SELECT ${NOW}`))) as unknown as pg.QueryResult[];
      tx = new PostgresTx(client, Number(began.at(-1)?.rows[0].now) + this.#clock.offset(), begin === WRITE);
      value = await fn(tx);
      await tx.finish();
      committing = tx.writable;
      await translate(client.query('COMMIT'));
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      if (!(error instanceof Unreachable)) throw error;
      // As the pool marks a connection that it is not to hand out again.
      Object.assign(client, { __knex__disposed: error });
      throw new Unreachable(error.cause, committing);
    } finally {
      await this.#knex.client.releaseConnection(client);
    }
    if (tx.published.size > 0) {
      const keys = [...tx.published];
      this.#follower?.committed(keys);
      this.#wake?.send(keys);
    }
    return value;
  }

  /** A connection of the pool. @throws Unreachable, at once while no connection can be made. */
  async #acquire(): Promise<pg.Client> {
    if (this.#away) throw new Unreachable(null);
    try {
      return (await this.#knex.client.acquireConnection()) as pg.Client;
    } catch (error) {
      if (error instanceof knex.KnexTimeoutError) throw new Contention('no connection is free', false, error);
      // Others may be open where there are too many.
      if ((error as { code?: string }).code !== '53300') this.#lost(error);
      throw new Unreachable(error);
    }
  }

  #lost(error: unknown): void {
    if (this.#away || this.#closed) return;
    this.#away = true;
    this.#follower?.reachable?.(false, error);
    void persist(
      this.#clock,
      () => this.#probe(),
      () => this.#closed,
    ).then(() => {
      this.#away = false;
      if (!this.#closed) this.#follower?.reachable?.(true);
    });
  }

  async #probe(): Promise<void> {
    const client = await connect(this.#url, 'service-probe');
    await client.query('SELECT 1').finally(() => client.end());
  }
}
