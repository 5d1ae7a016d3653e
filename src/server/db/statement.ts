/**
 * Statements built once by Knex and then run by the driver's prepared statements. Building a query costs Knex more than
 * running it costs the engine, so what runs on every request is built at its first use and kept for the process's life.
 */
import knex, { type Knex } from 'knex';

export type Value = string | number | Buffer | null;
export type Params = { [name: string]: Value };

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

type Build<P> = (db: Knex, p: P) => Knex.QueryBuilder | Knex.Raw;
type BuildList<P, Item> = (db: Knex, p: P, list: Item[]) => Knex.QueryBuilder | Knex.Raw;

export interface Compiled {
  /** Stable per statement and dialect; the name of the prepared statement on Postgres. */
  readonly name: string;
  readonly sql: string;
  bind(params: Params): Value[];
}

let counter = 0;

/** A query with named parameters, compiled once per dialect. */
export class Statement<P extends Params, R> {
  /** Only for the type checker: the row type. */
  declare readonly row: R;
  readonly #build: Build<P>;
  readonly #number = ++counter;
  readonly #compiled = new Map<string, Compiled>();

  constructor(build: Build<P>) {
    this.#build = build;
  }

  for(dialect: 'sqlite' | 'postgres'): Compiled {
    const known = this.#compiled.get(dialect);
    if (known) return known;
    const compiled = compile(this.#build as Build<Params>, dialect, `s${this.#number}`);
    this.#compiled.set(dialect, compiled);
    return compiled;
  }
}

/** Declares a statement: `statement<{id: string}, Row>((db, p) => db('people').where('id', p.id))`. */
export const statement = <P extends Params, R = never>(build: Build<P>) => new Statement<P, R>(build);

/** The insertion of a row, of which several can become one statement on Postgres. */
export class Insertion<Row extends Params> extends Statement<Row, never> {
  readonly #ofRows = new Map<number, { name: string; text: string }>();

  /** The statement of Postgres that inserts so many rows; their values stand one row after the other. */
  ofRows(count: number): { name: string; text: string } {
    let made = this.#ofRows.get(count);
    if (!made) {
      const { name, sql } = this.for('postgres');
      const [head, columns] = sql.split(/ values (?=\([^)]*\)$)/) as [string, string];
      const width = columns.split(',').length;
      const rows = Array.from({ length: count }, (_, row) =>
        columns.replaceAll(/\$(\d+)/g, (_all, n) => `$${row * width + Number(n)}`),
      );
      made = { name: `${name}x${count}`, text: `${head} values ${rows.join(', ')}` };
      this.#ofRows.set(count, made);
    }
    return made;
  }
}

/** Declares the insertion of rows of one type; the columns are the fields of the first row. */
export function insertion<Row extends Params>(table: string): (row: Row) => Insertion<Row> {
  let made: Insertion<Row> | undefined;
  return (row) => {
    made ??= new Insertion<Row>((db, p) =>
      db(table).insert(Object.fromEntries(Object.keys(row).map((name) => [name, p[name]]))),
    );
    return made;
  };
}

/** The change of columns of the row with an id, of which several can become one statement on Postgres. */
export class Change<Row extends Params & { id: string }> extends Statement<Row, never> {
  readonly #columns: string[];
  readonly #text: string;

  /** @param types the columns with their types on Postgres. */
  constructor(table: string, types: { [column: string]: 'bigint' | 'bytea' }) {
    const names = Object.keys(types);
    super((db, p) =>
      db(table)
        .where('id', p.id)
        .update(Object.fromEntries(names.map((name) => [name, p[name]]))),
    );
    this.#columns = ['id', ...names];
    const lists = ['text', ...Object.values(types)].map((type, index) => `$${index + 1}::${type}[]`);
    const changes = names.map((name) => `${name} = new.${name}`);
    this.#text = `UPDATE ${table} SET ${changes} FROM unnest(${lists}) AS new(${this.#columns}) WHERE ${table}.id = new.id`;
  }

  /** The statement of Postgres that changes these rows, with a list of values for each column. */
  ofRows(rows: readonly Row[]): { name: string; text: string; values: Value[][] } {
    // In one order for all, so that two who change the same rows do not wait for each other.
    const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const values = this.#columns.map((name) => sorted.map((row) => row[name] as Value));
    return { name: `${this.for('postgres').name}m`, text: this.#text, values };
  }
}

/** Values that one row is found by: of a column, or of two. */
export type Pair = readonly [Value, Value];

/** A query over a list of values, such as `whereIn`, or of pairs of them. */
export class ListStatement<P extends Params, R, Item extends Value | Pair = Value> {
  readonly #build: BuildList<P, Item>;
  readonly #bySize = new Map<number, Statement<Params, R>>();

  constructor(build: BuildList<P, Item>) {
    this.#build = build;
  }

  /** The statement for a list's size, and its parameters. Sizes go in powers of two, so that there are few statements. */
  over(params: P, values: readonly Item[]): [Statement<Params, R>, Params] {
    const size = 2 ** Math.ceil(Math.log2(Math.max(values.length, 1)));
    const all: Params = { ...params };
    for (let index = 0; index < size; index++) {
      // A repeated value changes nothing; an empty list becomes NULL, which matches no row.
      const value = values[index] ?? values[0] ?? null;
      if (isPair(value)) [all[`list${index}`], all[`second${index}`]] = value as [Value, Value];
      else all[`list${index}`] = value as Value;
    }
    return [this.#ofSize(size, isPair(values[0])), all];
  }

  #ofSize(size: number, pairs: boolean): Statement<Params, R> {
    const known = this.#bySize.get(size);
    if (known) return known;
    const made = statement<Params, R>((db, p) => {
      const item = (index: number) => (pairs ? [p[`list${index}`], p[`second${index}`]] : p[`list${index}`]) as Item;
      return this.#build(
        db,
        p as P,
        Array.from({ length: size }, (_unused, index) => item(index)),
      );
    });
    this.#bySize.set(size, made);
    return made;
  }
}

export const isPair = (value: Value | Pair | undefined): value is Pair => Array.isArray(value);

/** Declares a query over a list of values. */
export const listStatement = <P extends Params, R, Item extends Value | Pair = Value>(build: BuildList<P, Item>) =>
  new ListStatement<P, R, Item>(build);

const builders = {
  sqlite: knex({ client: 'better-sqlite3', useNullAsDefault: true }),
  postgres: knex({ client: 'pg' }),
};

/** The query builder of a dialect, without a connection. */
export const builderOf = (dialect: 'sqlite' | 'postgres'): Knex => builders[dialect];

function compile(build: Build<Params>, dialect: 'sqlite' | 'postgres', name: string): Compiled {
  const names = new Proxy({} as Params, { get: (_target, key) => new Placeholder(String(key)) });
  const { sql, bindings } = build(builders[dialect], names).toSQL();
  const constants = bindings as unknown as (Value | Placeholder)[];
  const slots: string[] = [];
  let next = 0;
  const text = sql.replaceAll('?', () => {
    const binding = constants[next++];
    if (!(binding instanceof Placeholder)) return literal(binding);
    slots.push(binding.name);
    // An expression: SQLite may plan a statement anew at every run for a bare variable, since another value might have another plan.
    return dialect === 'postgres' ? `$${slots.length}` : '+?';
  });
  return { name, sql: text, bind: binder(slots) };
}

/** One array literal per statement: reading each parameter by a name held in a variable costs several times as much. */
function binder(slots: readonly string[]): Compiled['bind'] {
  const list = new Function('p', `return [${slots.map((slot) => `p[${JSON.stringify(slot)}]`).join(', ')}];`) as (
    params: Params,
  ) => (Value | undefined)[];
  return (params) => {
    const values = list(params);
    const missing = values.indexOf(undefined);
    if (missing !== -1) throw new Error(`statement parameter ${slots[missing]} is missing`);
    return values as Value[];
  };
}

/**
 * A constant of a statement stands in its text. Bound, it would keep the engines from using a partial index on it, and
 * make SQLite plan the statement anew at every run.
 */
function literal(value: Value | undefined): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string' && /^[a-z0-9_.-]*$/i.test(value)) return `'${value}'`;
  throw new Error('a statement holds a constant that has no plain literal');
}
