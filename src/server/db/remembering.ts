/** A snapshot that several readers share: what one of them has asked for is not asked again. */
import type { Knex } from 'knex';
import type { Params, Statement } from './statement.ts';
import type { ReadTx } from './tx.ts';

type Known = Map<Statement<never, unknown>, Map<string, Promise<unknown>>>;

/** Within one read transaction the same statement has the same rows; they are frozen, because others get them too. */
export class RememberingTx implements ReadTx {
  readonly writable = false;
  readonly now: number;
  readonly dialect: ReadTx['dialect'];
  readonly #tx: ReadTx;
  readonly #all: Known = new Map();
  readonly #first: Known = new Map();

  constructor(tx: ReadTx) {
    this.#tx = tx;
    this.now = tx.now;
    this.dialect = tx.dialect;
  }

  all<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    const read = (): Promise<R[]> => this.#tx.all(statement, params).then(frozenAll);
    return remembered(this.#all, statement, params, read).then((rows) => [...rows]);
  }

  first<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    const read = (): Promise<R | undefined> => this.#tx.first(statement, params).then(frozen);
    return remembered(this.#first, statement, params, read);
  }

  query<R>(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<R[]> {
    return this.#tx.query(build);
  }
}

const frozen = <R>(row: R): R => Object.freeze(row) as R;

function frozenAll<R>(rows: R[]): R[] {
  for (const row of rows) Object.freeze(row);
  return rows;
}

function remembered<P extends Params, R, T>(
  known: Known,
  statement: Statement<P, R>,
  params: P,
  read: () => Promise<T>,
): Promise<T> {
  let ofStatement = known.get(statement as never);
  if (!ofStatement) {
    ofStatement = new Map();
    known.set(statement as never, ofStatement);
  }
  const key = keyOf(params);
  let rows = ofStatement.get(key);
  if (!rows) {
    rows = read();
    ofStatement.set(key, rows);
  }
  return rows as Promise<T>;
}

/** Two sets of values that differ have different keys: each text stands behind its length. */
function keyOf(params: Params): string {
  let key = '';
  for (const name in params) {
    const value = params[name];
    if (typeof value === 'string') key += `${value.length}:${value}`;
    else if (Buffer.isBuffer(value)) key += `${value.length}b${value.toString('latin1')}`;
    else key += `${value};`;
  }
  return key;
}
