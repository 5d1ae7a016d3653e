/** A snapshot that several readers share: what one of them has asked for is not asked again. */
import type { Knex } from 'knex';
import type { Params, Statement } from './statement.ts';
import type { ReadTx } from './tx.ts';

/** Within one read transaction the same statement has the same rows; they are frozen, because others get them too. */
export class RememberingTx implements ReadTx {
  readonly writable = false;
  readonly now: number;
  readonly dialect: ReadTx['dialect'];
  readonly #tx: ReadTx;
  readonly #all = new Map<Statement<never, unknown>, Map<string, unknown[]>>();
  readonly #first = new Map<Statement<never, unknown>, Map<string, unknown[]>>();

  constructor(tx: ReadTx) {
    this.#tx = tx;
    this.now = tx.now;
    this.dialect = tx.dialect;
  }

  async all<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    const rows = await remembered(this.#all, statement, params, () => this.#tx.all(statement, params));
    return [...rows] as R[];
  }

  async first<P extends Params, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    const read = async (): Promise<R[]> => {
      const row = await this.#tx.first(statement, params);
      return row === undefined ? [] : [row];
    };
    const [row] = await remembered(this.#first, statement, params, read);
    return row as R | undefined;
  }

  query<R>(build: (db: Knex) => Knex.QueryBuilder | Knex.Raw): Promise<R[]> {
    return this.#tx.query(build);
  }
}

async function remembered<P extends Params, R>(
  known: Map<Statement<never, unknown>, Map<string, unknown[]>>,
  statement: Statement<P, R>,
  params: P,
  read: () => Promise<R[]>,
): Promise<unknown[]> {
  let ofStatement = known.get(statement as never);
  if (!ofStatement) {
    ofStatement = new Map();
    known.set(statement as never, ofStatement);
  }
  const key = keyOf(params);
  let rows = ofStatement.get(key);
  if (!rows) {
    rows = await read();
    for (const row of rows) Object.freeze(row);
    ofStatement.set(key, rows);
  }
  return rows;
}

/** Two sets of values that differ have different keys: each is written with its type and its length. */
function keyOf(params: Params): string {
  let key = '';
  for (const name in params) {
    const value = params[name];
    const text = Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
    key += `${typeof value}${text.length}:${text}`;
  }
  return key;
}
