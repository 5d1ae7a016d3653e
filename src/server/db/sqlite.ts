/**
 * SQLite: one writer, a few readers, and one durable transaction for all writes that wait when the writer is free.
 *
 * Durability: WAL with synchronous=FULL. better-sqlite3 is compiled with SQLITE_DEFAULT_WAL_SYNCHRONOUS=1, which turns
 * FULL into NORMAL after the first write and on every reopen unless it was set explicitly; a killed process never
 * shows the difference, a power cut does. So it is set and then asserted after a write.
 */
import Sqlite from 'better-sqlite3';
import type { Knex } from 'knex';
import type { Clock } from './clock.ts';
import { type Dialect, StorageFull, sqliteDialect, UniqueViolation } from './dialect.ts';
import { builderOf, type Params, type Statement, type Value } from './statement.ts';
import type { Database, Follower, ReadTx, WriteTx } from './tx.ts';

/** Most writes in one transaction, so that the first of a burst does not wait for all of it. */
const MAX_BATCH = 256;
/** Most turns of the event loop a write waits for others. */
const MAX_TURNS = 4;
const READERS = 4;
const MAX_PREPARED = 1000;

type RowOf = (values: unknown[]) => unknown;

/** A statement whose rows come as arrays: the driver's own objects are built property by property, at three times the cost. */
class Prepared {
  readonly #statement: Sqlite.Statement<unknown[]>;
  readonly #row: RowOf | null;

  constructor(statement: Sqlite.Statement<unknown[]>) {
    this.#statement = statement;
    this.#row = statement.reader
      ? rowOf(
          statement
            .raw(true)
            .columns()
            .map((column) => column.name),
        )
      : null;
  }

  run(values: readonly unknown[] = []): number {
    return this.#statement.run(...values).changes;
  }

  first(values: readonly unknown[]): unknown {
    const found = this.#statement.get(...values) as unknown[] | undefined;
    return found === undefined ? undefined : this.#row?.(found);
  }

  all(values: readonly unknown[]): unknown[] {
    const found = this.#statement.all(...values) as unknown[][];
    return this.#row ? found.map(this.#row) : [];
  }
}

/** One object literal per statement, so that all its rows have one shape. Only column names of our own SQL go in. */
function rowOf(names: string[]): RowOf {
  const fields = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  return new Function('values', `return { ${fields.join(', ')} };`) as RowOf;
}

/** One connection with its prepared statements. */
class Connection {
  readonly db: Sqlite.Database;
  readonly #prepared = new Map<string, Prepared>();

  constructor(file: string, options: Sqlite.Options) {
    this.db = new Sqlite(file, options);
  }

  prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (!prepared) {
      // Queries built per call vary with the length of their lists; forgetting all now and then bounds the memory.
      if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear();
      // A variable that is the whole of a LIMIT makes SQLite plan the statement anew at every run.
      prepared = new Prepared(this.db.prepare(sql.replace(/\blimit \?/gi, 'LIMIT 0 + ?')));
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }

  exec(sql: string): void {
    this.prepare(sql).run();
  }
}

class SqliteReadTx implements ReadTx {
  readonly writable: boolean = false;
  readonly dialect: Dialect = sqliteDialect;
  readonly now: number;
  protected readonly connection: Connection;

  constructor(connection: Connection, now: number) {
    this.connection = connection;
    this.now = now;
  }

  async all<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    const compiled = statement.for('sqlite');
    return this.connection.prepare(compiled.sql).all(compiled.bind(params)) as R[];
  }

  async first<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    const compiled = statement.for('sqlite');
    return this.connection.prepare(compiled.sql).first(compiled.bind(params)) as R | undefined;
  }

  async query<R>(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<R[]> {
    const { sql, bindings } = native(build);
    return this.connection.prepare(sql).all(bindings) as R[];
  }
}

class SqliteWriteTx extends SqliteReadTx implements WriteTx {
  override readonly writable = true as const;
  readonly published = new Set<string>();
  /** Whether anything was written. */
  changed = false;
  readonly #deferred = new Map<string, () => Promise<void>>();

  async run<P extends Params>(statement: Statement<P, unknown>, params: P): Promise<number> {
    const compiled = statement.for('sqlite');
    this.changed = true;
    return guard(() => this.connection.prepare(compiled.sql).run(compiled.bind(params)));
  }

  async change(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<number> {
    const { sql, bindings } = native(build);
    this.changed = true;
    return guard(() => this.connection.prepare(sql).run(bindings));
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
}

interface Job {
  run(tx: SqliteWriteTx): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Settle = () => void;

/** Writes of one process, gathered per turn of the event loop into one transaction. */
class GroupWriter {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #notify: (keys: string[]) => void;
  #queue: Job[] = [];
  #running = false;

  constructor(connection: Connection, clock: Clock, notify: (keys: string[]) => void) {
    this.#connection = connection;
    this.#clock = clock;
    this.#notify = notify;
  }

  submit<T>(run: (tx: SqliteWriteTx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing is queued or running. */
  async idle(): Promise<void> {
    while (this.#running || this.#queue.length > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  #schedule(): void {
    if (this.#running) return;
    this.#running = true;
    this.#gather(0, MAX_TURNS);
  }

  /** Waits for the next turn as long as turns bring more writes: a lone one does not wait, a burst shares its commit. */
  #gather(known: number, turns: number): void {
    setImmediate(() => {
      const queued = this.#queue.length;
      if (queued === known || queued === 1 || queued >= MAX_BATCH || turns === 0) void this.#drain();
      else this.#gather(queued, turns - 1);
    });
  }

  async #drain(): Promise<void> {
    const keys = new Set<string>();
    let batch = this.#queue.splice(0, MAX_BATCH);
    while (batch.length > 0) batch = await this.#commit(batch, keys);
    this.#running = false;
    if (this.#queue.length > 0) this.#schedule();
    if (keys.size > 0) this.#notify([...keys]);
  }

  /**
   * Runs a batch in one transaction and tells its answers after the commit. A write that fails before it changed
   * anything, as refusals do, is simply left out. One that fails later takes the whole transaction back, and the others
   * are answered to run again: a savepoint for each would spare them that, but costs every write a copy of each page it
   * changes, four times the price of the changes themselves.
   */
  async #commit(batch: Job[], keys: Set<string>): Promise<Job[]> {
    const settled: Settle[] = [];
    const published = new Set<string>();
    try {
      this.#connection.exec('BEGIN IMMEDIATE');
      for (const job of batch) {
        const tx = new SqliteWriteTx(this.#connection, this.#clock.now());
        try {
          const value = await job.run(tx);
          await tx.finish();
          settled.push(() => job.resolve(value));
          for (const key of tx.published) published.add(key);
        } catch (error) {
          if (!this.#connection.db.inTransaction) throw error;
          if (tx.changed) {
            this.#connection.exec('ROLLBACK');
            job.reject(isFull(error) ? new StorageFull(error) : error);
            return batch.filter((other) => other !== job);
          }
          settled.push(() => job.reject(error));
        }
      }
      this.#connection.exec('COMMIT');
    } catch (error) {
      if (this.#connection.db.inTransaction) this.#connection.exec('ROLLBACK');
      for (const job of batch) job.reject(isFull(error) ? new StorageFull(error) : error);
      return [];
    }
    for (const settle of settled) settle();
    for (const key of published) keys.add(key);
    return [];
  }
}

export class SqliteDatabase implements Database {
  readonly dialect = sqliteDialect;
  readonly #writer: Connection;
  readonly #group: GroupWriter;
  readonly #readers: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  readonly #file: string;
  readonly #clock: Clock;
  #follower: Follower | null = null;
  #open = 0;

  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    this.#writer = new Connection(file, {});
    prepareWriter(this.#writer.db);
    this.#group = new GroupWriter(this.#writer, clock, (keys) => this.#follower?.committed(keys));
  }

  async read<T>(fn: (tx: ReadTx) => Promise<T>): Promise<T> {
    const connection = await this.#acquire();
    try {
      connection.exec('BEGIN');
      return await fn(new SqliteReadTx(connection, this.#clock.now()));
    } finally {
      if (connection.db.inTransaction) connection.exec('COMMIT');
      this.#release(connection);
    }
  }

  write<T>(fn: (tx: WriteTx) => Promise<T>): Promise<T> {
    return this.#group.submit(fn);
  }

  /** There is no other process: the file is locked. */
  async follow(follower: Follower): Promise<void> {
    this.#follower = follower;
  }

  async close(): Promise<void> {
    await this.#group.idle();
    for (const reader of this.#readers) reader.db.close();
    this.#writer.db.close();
  }

  #acquire(): Promise<Connection> | Connection {
    const idle = this.#readers.pop();
    if (idle) return idle;
    if (this.#open < READERS) {
      this.#open++;
      return new Connection(this.#file, { readonly: true });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next) next(connection);
    else this.#readers.push(connection);
  }
}

/** Sets what durability rests on, and asserts it after a write, when the engine would have fallen back. */
export function prepareWriter(db: Sqlite.Database): void {
  db.pragma('busy_timeout = 5000');
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('wal_autocheckpoint = 4000');
  db.pragma('cache_size = -65536');
  db.exec('BEGIN IMMEDIATE; COMMIT');
  const mode = db.pragma('journal_mode', { simple: true });
  const level = db.pragma('synchronous', { simple: true });
  if (mode !== 'wal' || level !== 2)
    throw new Error(`SQLite is not durable here: journal_mode ${mode}, synchronous ${level}`);
}

function native(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): { sql: string; bindings: Value[] } {
  const { sql, bindings } = build(builderOf('sqlite')).toSQL().toNative();
  return { sql, bindings: bindings as Value[] };
}

/** The disk or a quota is at its end. */
const isFull = (error: unknown): boolean => error instanceof Sqlite.SqliteError && error.code === 'SQLITE_FULL';

/** Names the unique index that refused a row: SQLite tells its columns as `table.a, table.b`. */
function guard<T>(fn: () => T): T {
  try {
    return fn();
  } catch (error) {
    if (error instanceof Sqlite.SqliteError && /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(error.code)) {
      const columns = error.message.replace(/^.*failed: /, '').split(', ');
      const table = columns[0]?.split('.')[0] ?? '';
      throw new UniqueViolation(`${table}.${columns.map((column) => column.split('.')[1]).join('+')}`, error);
    }
    throw error;
  }
}
