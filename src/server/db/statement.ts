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
export function statement<P extends Params, R = never>(build: Build<P>): Statement<P, R> {
  return new Statement<P, R>(build);
}

const builders = {
  sqlite: knex({ client: 'better-sqlite3', useNullAsDefault: true }),
  postgres: knex({ client: 'pg' }),
};

/** The query builder of a dialect, without a connection. */
export const builderOf = (dialect: 'sqlite' | 'postgres'): Knex => builders[dialect];

function compile(build: Build<Params>, dialect: 'sqlite' | 'postgres', name: string): Compiled {
  const names = new Proxy({} as Params, { get: (_target, key) => new Placeholder(String(key)) });
  const { sql, bindings } = build(builders[dialect], names).toSQL().toNative();
  const slots = bindings as unknown as (Value | Placeholder)[];
  return {
    name,
    sql,
    bind: (params) =>
      slots.map((slot) => {
        if (!(slot instanceof Placeholder)) return slot;
        const value = params[slot.name];
        if (value === undefined) throw new Error(`statement parameter ${slot.name} is missing`);
        return value;
      }),
  };
}
