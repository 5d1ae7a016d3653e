/** The database as stores and use cases see it: a transaction that carries its own time. */
import type { Knex } from 'knex';
import type { Dialect } from './dialect.ts';
import type { ListStatement, Pair, Params, Statement, Value } from './statement.ts';
import type { By } from './together.ts';

export interface ReadTx {
  /** Milliseconds since the epoch, read once when the transaction began; on Postgres by the database's clock. */
  readonly now: number;
  readonly dialect: Dialect;
  /** False where only reading is allowed; so that a read transaction does not fit where a write one is needed. */
  readonly writable: boolean;
  /** All rows of a prepared statement. */
  all<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R[]>;
  /** The first row of a prepared statement. */
  first<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R | undefined>;
  /**
   * The row of a list whose column `by` has this value, or whose two columns have this pair. What shares a transaction looks
   * its rows up together.
   */
  one<R, Item extends Value | Pair>(
    list: ListStatement<Params, R, Item>,
    by: By<R, Item>,
    value: Item,
  ): Promise<R | undefined>;
  /**
   * A row as `load` reads it. Writes that share a transaction, which has locked it, are given the same object with what each
   * changed in it.
   */
  once<T>(key: string, load: () => Promise<T>): Promise<T>;
  /** All rows of a query built for this call. */
  query<R>(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<R[]>;
}

export interface WriteTx extends ReadTx {
  readonly writable: true;
  /** Runs a prepared write; answers how many rows it changed. */
  run<P extends Params>(statement: Statement<P, unknown>, params: P): Promise<number>;
  /**
   * Runs a prepared write that no later statement of this transaction rests on but those that read what it wrote. On Postgres
   * only the commit waits for it, and tells its error.
   */
  send<P extends Params>(statement: Statement<P, unknown>, params: P): Promise<void>;
  /** Runs a write built for this call; answers how many rows it changed. */
  change(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<number>;
  /**
   * From here to its end, no other transaction that asks for the same name runs; what was committed before is seen by the
   * next statement. For limits that no row stands for: rows that are there are locked instead. Asked for before rows that
   * others ask for after it.
   */
  serialise(name: string): Promise<void>;
  /** Of writes that share a transaction, one at a time runs from here to its end. Asked for when the rows it decides by are read. */
  turn(key: string): Promise<void>;
  /** Runs `fn` once before the commit, however often the same `key` is given. */
  beforeCommit(key: string, fn: () => Promise<void>): void;
  /** Wakes the watchers of this key after the commit. */
  publish(key: string): void;
}

/** A follower of commits. */
export interface Follower {
  /** Keys published by committed transactions. May come late, twice or merged. */
  committed(keys: string[]): void;
  /** Wake-ups from other processes may have been lost; after `restored` they come again. */
  gap(state: 'lost' | 'restored'): void;
  /** Keys that are watched now. */
  watched(): string[];
  /** Whether the database can be reached: said when that changes, with what it failed with. */
  reachable?(yes: boolean, error?: unknown): void;
  /** A newer build has migrated the database. */
  outdated?(error: Error): void;
}

/** What a database may do to be faster, because of what `fn` is like. */
export interface Allowed {
  /**
   * Run it in one transaction with others of the same moment. A read is short. A write locks nothing but its credential's rows
   * and the one board that this names, takes its `turn` at the board, and refuses before it changes anything. It is run ahead.
   */
  shares?: string | undefined;
  /** Run it before the transaction's time is known: it asks for `now` only after its first statement. */
  ahead?: boolean | undefined;
}

/** A name that is held. Called, it frees it. */
export type Claim = (() => Promise<void> | void) & {
  /** Whether it is held, and nobody else can have held it since it was claimed. */
  held(): Promise<boolean>;
};

export interface ClaimOptions {
  /** Other processes may share it; none holds it alone meanwhile. */
  shared?: boolean;
  /** Called once when another process holds it instead, after a connection was lost. */
  lost?(): void;
}

export interface Database {
  readonly dialect: Dialect;
  /** Runs `fn` on one snapshot; it may await nothing but calls on its `tx`. */
  read<T>(fn: (tx: ReadTx) => Promise<T>, allows?: Allowed): Promise<T>;
  /**
   * Runs `fn` in a write transaction and answers after it is durable. `fn` may await nothing but calls on its `tx`,
   * and may run more than once where the engine asks for a retry.
   */
  write<T>(fn: (tx: WriteTx) => Promise<T>, allows?: Allowed): Promise<T>;
  /**
   * Holds a name among all processes of this database, for what is done outside of transactions.
   * @returns null when it was not free within `waitMs`.
   */
  claim(name: string, waitMs: number, options?: ClaimOptions): Promise<Claim | null>;
  /** From now on tells the follower of every commit, here and in other processes of the same database. */
  follow(follower: Follower): Promise<void>;
  close(): Promise<void>;
}
