/**
 * A transaction of Postgres. Statements are pipelined: each is sent without waiting for the answers of those before it, and
 * answers come in the order of sending.
 *
 * Several writes may share a transaction (`Together`): each has a `PostgresTx` of its own on the one `Session`. They run
 * side by side until each takes its turn, so that what all of them ask at the same moment becomes one statement.
 */
import type { Knex } from 'knex';
import type pg from 'pg';
import { type Dialect, postgresDialect, StalePlan } from './dialect.ts';
import { destroy, gather, translate } from './postgres-connection.ts';
import {
  builderOf,
  Change,
  type Compiled,
  Insertion,
  type ListStatement,
  type Pair,
  type Params,
  type Statement,
  statement,
  type Value,
} from './statement.ts';
import { type By, Together } from './together.ts';
import type { WriteTx } from './tx.ts';

/** Most rows of one insertion. Sizes go in powers of two, so that there are few statements. */
const MAX_ROWS = 64;
/** Queries built per call vary with their filters and the length of their lists; each connection keeps what it prepared. */
const MAX_NAMED = 500;
const MAX_COUNTED = 5_000;
/** A text gets a name at its third use; one that comes once or twice needs none. */
const MIN_USES = 3;

/** The names under which the connections of a pool prepare built queries, so that these are not parsed and planned at every run. */
export class QueryNames {
  readonly #named = new Map<string, string>();
  readonly #uses = new Map<string, number>();

  /** Undefined for a text that was used less than three times, and when all names are taken. */
  of(sql: string): string | undefined {
    const known = this.#named.get(sql);
    if (known !== undefined || this.#named.size === MAX_NAMED) return known;
    const uses = (this.#uses.get(sql) ?? 0) + 1;
    if (uses < MIN_USES) {
      if (this.#uses.size === MAX_COUNTED) this.#uses.clear();
      this.#uses.set(sql, uses);
      return undefined;
    }
    this.#uses.delete(sql);
    const name = `q${this.#named.size}`;
    this.#named.set(sql, name);
    return name;
  }
}

const serialiseStatement = statement<{ name: string }>((db, p) =>
  db.select(db.raw('pg_advisory_xact_lock(hashtextextended(?, 0))', [p.name])),
);

interface Query {
  name?: string | undefined;
  text: string;
  values?: (Value | Value[])[];
}

type ChangedRow = Params & { id: string };
type AnyChange = Change<ChangedRow>;

/** What runs on one connection between BEGIN and COMMIT. */
export class Session {
  readonly published = new Set<string>();
  readonly together = new Together((statement, params) => this.rows(prepared(statement.for('postgres'), params)));
  readonly names: QueryNames;
  readonly #client: pg.ClientBase;
  readonly #patience: number;
  readonly #deferred = new Map<string, () => Promise<void>>();
  readonly #sent: Promise<void>[] = [];
  readonly #inserts = new Map<Insertion<Params>, Params[]>();
  /** What is to be changed, by the ids of the rows. */
  readonly #changes = new Map<AnyChange, Map<string, ChangedRow>>();
  /** The first error of a statement; all that come after it are refused because of it. */
  #failed: unknown = null;
  #now = Number.NaN;
  #unanswered = 0;
  /** Checks since the last answer. */
  #silentChecks = 0;

  /** @param patience checks, a second apart, after which a connection that owes an answer is given up */
  constructor(client: pg.ClientBase, names: QueryNames, patience: number) {
    this.#client = client;
    this.#patience = patience;
    this.names = names;
  }

  /** Known when the first statement has been answered. */
  get now(): number {
    if (Number.isNaN(this.#now)) throw new Error('a transaction was asked for its time before its first statement');
    return this.#now;
  }

  /** @param begin its last row has `now`, the time in milliseconds. @param offset what is added to it */
  begin(begin: string, offset: number): Promise<void> {
    const began = this.#query({ text: begin }).then((results) => {
      // A text of several statements is answered with a list of results, which the types do not know.
      this.#now = Number([results].flat().at(-1)?.rows[0].now) + offset;
    });
    this.#sent.push(began.catch((error: unknown) => this.#fail(error)));
    return began;
  }

  /** Whether a statement failed, after which nothing can be committed. */
  get failed(): boolean {
    return this.#failed !== null;
  }

  /** Whether one failed that has to be prepared anew. */
  get stale(): boolean {
    return this.#failed instanceof StalePlan;
  }

  /** Runs a query that sees everything sent before it. */
  async ask(query: Query): Promise<pg.QueryResult> {
    this.#flush();
    try {
      return await this.#query(query);
    } catch (error) {
      // Statements sent before it have failed by now, if they do.
      await Promise.all(this.#sent);
      this.#failed ??= error;
      throw this.#failed;
    }
  }

  async rows<R>(query: Query): Promise<R[]> {
    return (await this.ask(query)).rows as R[];
  }

  /** Runs a statement for whose end only the commit waits. */
  send(query: Query): void {
    const answered = (): void => {};
    this.#sent.push(this.#query(query).then(answered, (error: unknown) => this.#fail(error)));
  }

  /** Inserts a row together with the others of its table. */
  insert(insertion: Insertion<Params>, row: Params): void {
    const rows = this.#inserts.get(insertion);
    if (rows) rows.push(row);
    else this.#inserts.set(insertion, [row]);
  }

  /** Changes a row together with the others of its table; what is said last of a row holds. */
  change(change: AnyChange, row: ChangedRow): void {
    const rows = this.#changes.get(change) ?? new Map<string, ChangedRow>();
    this.#changes.set(change, rows.set(row.id, row));
  }

  beforeCommit(key: string, fn: () => Promise<void>): void {
    this.#deferred.set(key, fn);
  }

  /** Writes what is left and commits. @param committing called when nothing is left but the commit */
  async commit(committing: () => void): Promise<void> {
    for (const fn of this.#deferred.values()) await fn();
    this.#flush();
    if (this.#failed !== null) throw this.#failed;
    committing();
    const commit = this.#query({ text: 'COMMIT' });
    await Promise.all([...this.#sent, commit]);
    // The engine has taken it back instead.
    if (this.#failed !== null) throw this.#failed;
  }

  /** Never fails. */
  async rollBack(): Promise<void> {
    await this.#query({ text: 'ROLLBACK' }).catch(() => {});
  }

  /** Ends the connection when it has not answered for too long. Called every second. */
  checkAnswers(): void {
    if (this.#unanswered > 0 && ++this.#silentChecks >= this.#patience) destroy(this.#client);
  }

  #fail(error: unknown): void {
    this.#failed ??= error;
  }

  async #query(query: Query): Promise<pg.QueryResult> {
    gather(this.#client);
    this.#unanswered++;
    try {
      return await translate(this.#client.query(query));
    } finally {
      this.#unanswered--;
      this.#silentChecks = 0;
    }
  }

  #flush(): void {
    for (const [insertion, rows] of this.#inserts) {
      const { bind } = insertion.for('postgres');
      for (let from = 0; from < rows.length; ) {
        const size = Math.min(2 ** Math.floor(Math.log2(rows.length - from)), MAX_ROWS);
        const values = rows.slice(from, from + size).flatMap(bind);
        this.send({ ...insertion.ofRows(size), values });
        from += size;
      }
    }
    this.#inserts.clear();
    for (const [change, rows] of this.#changes) this.send(change.ofRows([...rows.values()]));
    this.#changes.clear();
  }
}

const prepared = ({ name, sql, bind }: Compiled, params: Params): Query => ({ name, text: sql, values: bind(params) });

/** One read or write of a session. */
export class PostgresTx implements WriteTx {
  readonly dialect: Dialect = postgresDialect;
  readonly writable: true;
  /** Whether anything was written. */
  changed = false;
  readonly #session: Session;
  readonly #shared: boolean;

  /** @param shared whether others write in the same session at the same time. */
  constructor(session: Session, writable: boolean, shared = false) {
    this.#session = session;
    this.#shared = shared;
    // What reads is given a type without writes.
    this.writable = writable as true;
  }

  get now(): number {
    return this.#session.now;
  }

  async all<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    return this.#session.rows(prepared(statement.for('postgres'), params));
  }

  async first<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    return (await this.all(statement, params))[0];
  }

  async one<R, Item extends Value | Pair>(
    list: ListStatement<Params, R, Item>,
    by: By<R, Item>,
    value: Item,
  ): Promise<R | undefined> {
    if (this.#shared) return this.#session.together.lookUp(list, by, value);
    return this.first(...list.over({}, [value]));
  }

  async query<R>(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<R[]> {
    return this.#session.rows(this.#built(build));
  }

  async run<P extends Params>(statement: Statement<P, unknown>, params: P): Promise<number> {
    this.changed = true;
    return (await this.#session.ask(prepared(statement.for('postgres'), params))).rowCount ?? 0;
  }

  async send<P extends Params>(statement: Statement<P, unknown>, params: P): Promise<void> {
    this.changed = true;
    if (statement instanceof Insertion) this.#session.insert(statement as never, params);
    else if (statement instanceof Change) this.#session.change(statement as never, params as never);
    else this.#session.send(prepared(statement.for('postgres'), params));
  }

  async change(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<number> {
    this.changed = true;
    return (await this.#session.ask(this.#built(build))).rowCount ?? 0;
  }

  once<T>(key: string, load: () => Promise<T>): Promise<T> {
    return this.#shared ? this.#session.together.once(key, load) : load();
  }

  async turn(key: string): Promise<void> {
    if (this.#shared) await this.#session.together.turn(this, key);
  }

  /** Lets the next ones have their turns. */
  done(): void {
    this.#session.together.done(this);
  }

  async serialise(name: string): Promise<void> {
    await this.all(serialiseStatement, { name });
  }

  beforeCommit(key: string, fn: () => Promise<void>): void {
    this.#session.beforeCommit(key, fn);
  }

  publish(key: string): void {
    this.#session.published.add(key);
  }

  #built(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Query {
    const { sql, bindings } = build(builderOf('postgres')).toSQL().toNative();
    // What has no parameters may be several statements, which cannot be prepared.
    const name = bindings.length > 0 ? this.#session.names.of(sql) : undefined;
    return { name, text: sql, values: bindings as Value[] };
  }
}
