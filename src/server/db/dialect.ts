/** Differences between the engines, each as a named capability. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** Whether other processes may write to the same database. */
  readonly shared: boolean;
}

export const sqliteDialect: Dialect = { name: 'sqlite', shared: false };
export const postgresDialect: Dialect = { name: 'postgres', shared: true };

/** A unique index refused a row. Its columns identify it, the same on both engines. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
  /** @param constraint table and columns, such as `boards.name`. */
  constructor(constraint: string, cause: unknown) {
    super(`unique: ${constraint}`, { cause });
  }
}

/** There is no room left for what was to be written; nothing of it was. */
export class StorageFull extends Error {
  override readonly name = 'StorageFull';
  constructor(cause: unknown) {
    super('no room left in the database', { cause });
  }
}

/** The engine could not take the transaction now; a later try may succeed. */
export class Contention extends Error {
  override readonly name = 'Contention';
  /** Whether trying again at once makes sense: not after a wait that ran into the limit of a transaction. */
  readonly atOnce: boolean;
  constructor(message: string, atOnce: boolean, cause: unknown) {
    super(message, { cause });
    this.atOnce = atOnce;
  }
}

/** Another transaction holds what this one needs, for longer than this one may wait. */
export class Locked extends Contention {
  constructor(cause: unknown) {
    super('it is locked by another transaction', false, cause);
  }
}

/** What a connection had prepared is of no use any more; on another one the transaction may be run again. */
export class StalePlan extends Contention {
  constructor(cause: unknown) {
    super('a statement has to be prepared anew', true, cause);
  }
}

/** The database cannot be reached now, or ended the connection. What was to be written was not, unless its commit was on its way. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /** The commit was on its way: whether it was made is not known. */
  readonly committing: boolean;
  constructor(cause: unknown, committing = false) {
    super('the database cannot be reached', { cause });
    this.committing = committing;
  }
}

/** Whether the database could not do it for now. */
export const isPassing = (error: unknown): boolean => error instanceof Unreachable || error instanceof Contention;
