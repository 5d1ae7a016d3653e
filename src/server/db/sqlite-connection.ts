/** One SQLite connection with its prepared statements, and the transactions that run on it. */
import Sqlite from 'better-sqlite3';
import type { Knex } from 'knex';
import { type Dialect, sqliteDialect, UniqueViolation } from './dialect.ts';
import { builderOf, type ListStatement, type Pair, type Params, type Statement, type Value } from './statement.ts';
import { type By, Together } from './together.ts';
import type { ReadTx, WriteTx } from './tx.ts';

const MAX_PREPARED = 1000;

/** One connection with its prepared statements. */
export class Connection {
  readonly db: Sqlite.Database;
  readonly #prepared = new Map<string, Sqlite.Statement<unknown[]>>();

  constructor(file: string, options: Sqlite.Options) {
    this.db = new Sqlite(file, options);
  }

  prepare(sql: string): Sqlite.Statement<unknown[]> {
    let prepared = this.#prepared.get(sql);
    if (!prepared) {
      // Queries built per call vary with the length of their lists; forgetting all now and then bounds the memory.
      if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear();
      // A variable that is the whole of a LIMIT, with a plus or not, makes SQLite plan the statement anew at every run.
      prepared = this.db.prepare(sql.replace(/\blimit \+?\?/gi, 'LIMIT 0 + ?'));
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }

  exec(sql: string): void {
    this.prepare(sql).run();
  }
}

export class SqliteReadTx implements ReadTx {
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
    return this.connection.prepare(compiled.sql).all(...compiled.bind(params)) as R[];
  }

  async first<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    const compiled = statement.for('sqlite');
    return this.connection.prepare(compiled.sql).get(...compiled.bind(params)) as R | undefined;
  }

  one<R, Item extends Value | Pair>(
    list: ListStatement<Params, R, Item>,
    _by: By<R, Item>,
    value: Item,
  ): Promise<R | undefined> {
    return this.first(...list.over({}, [value]));
  }

  /** Writes run one after the other. */
  once<T>(_key: string, load: () => Promise<T>): Promise<T> {
    return load();
  }

  async query<R>(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<R[]> {
    const { sql, bindings } = native(build);
    return this.connection.prepare(sql).all(...bindings) as R[];
  }
}

/** A write, or several that run side by side, in the transaction of a batch. */
export class SqliteSession extends Together {
  readonly published = new Set<string>();
  readonly now: number;
  /** The first error of a write, after which there are no others. */
  failed: unknown = null;
  readonly #deferred = new Map<string, () => Promise<void>>();

  constructor(connection: Connection, now: number) {
    const tx = new SqliteReadTx(connection, now);
    super((statement, params) => tx.all(statement, params));
    this.now = now;
  }

  beforeCommit(key: string, fn: () => Promise<void>): void {
    this.#deferred.set(key, fn);
  }

  /** Does what was left for the commit. */
  async finish(): Promise<void> {
    for (const fn of this.#deferred.values()) await fn();
  }
}

export class SqliteWriteTx extends SqliteReadTx implements WriteTx {
  override readonly writable = true as const;
  /** Whether it changed a row, or failed to. */
  changed = false;
  readonly #session: SqliteSession;
  readonly #shared: boolean;

  /** @param shared whether others write in the same session at the same time. */
  constructor(connection: Connection, session: SqliteSession, shared: boolean) {
    super(connection, session.now);
    this.#session = session;
    this.#shared = shared;
  }

  override one<R, Item extends Value | Pair>(
    list: ListStatement<Params, R, Item>,
    by: By<R, Item>,
    value: Item,
  ): Promise<R | undefined> {
    return this.#shared ? this.#session.lookUp(list, by, value) : super.one(list, by, value);
  }

  override once<T>(key: string, load: () => Promise<T>): Promise<T> {
    return this.#shared ? this.#session.once(key, load) : load();
  }

  async run<P extends Params>(statement: Statement<P, unknown>, params: P): Promise<number> {
    const compiled = statement.for('sqlite');
    return this.#write(() => this.connection.prepare(compiled.sql).run(...compiled.bind(params)).changes);
  }

  async change(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<number> {
    const { sql, bindings } = native(build);
    return this.#write(() => this.connection.prepare(sql).run(...bindings).changes);
  }

  #write(run: () => number): number {
    try {
      // The transaction may have ended with it; what came now would be one of its own.
      if (this.#session.failed !== null) throw this.#session.failed;
      const rows = guard(run);
      if (rows > 0) this.changed = true;
      return rows;
    } catch (error) {
      this.changed = true;
      this.#session.failed = error;
      throw error;
    }
  }

  async send<P extends Params>(statement: Statement<P, unknown>, params: P): Promise<void> {
    await this.run(statement, params);
  }

  async turn(key: string): Promise<void> {
    if (this.#shared) await this.#session.turn(this, key);
  }

  /** Lets the next ones have their turns. */
  done(): void {
    this.#session.done(this);
  }

  /** There is one writer. */
  async serialise(): Promise<void> {}

  beforeCommit(key: string, fn: () => Promise<void>): void {
    this.#session.beforeCommit(key, fn);
  }

  publish(key: string): void {
    this.#session.published.add(key);
  }
}

function native(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): { sql: string; bindings: Value[] } {
  const { sql, bindings } = build(builderOf('sqlite')).toSQL().toNative();
  return { sql, bindings: bindings as Value[] };
}

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
