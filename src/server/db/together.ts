/** What writes or reads that share a transaction have in common: rows looked up together, and their turns. */
import { isPair, type ListStatement, type Pair, type Params, type Statement, type Value } from './statement.ts';

/** Rows that are looked up together, by the value asked for. */
type LookUp = Map<string, { value: Value | Pair; found: PromiseWithResolvers<unknown> }>;
/** The column that a row is found by, or two. */
export type By<Row, Item> = Item extends Pair ? readonly [keyof Row & string, keyof Row & string] : keyof Row & string;
type AnyList = ListStatement<Params, unknown, Value | Pair>;

type All = (statement: Statement<Params, unknown>, params: Params) => Promise<unknown[]>;

export class Together {
  readonly #all: All;
  readonly #lookUps = new Map<AnyList, LookUp>();
  readonly #rows = new Map<string, Promise<unknown>>();
  readonly #last = new Map<string, Promise<void>>();
  readonly #turns = new Map<object, Map<string, () => void>>();

  /** @param all runs a statement in the transaction. */
  constructor(all: All) {
    this.#all = all;
  }

  /** Looks a row up together with all that are asked for in this turn of the event loop. */
  lookUp<R, Item extends Value | Pair>(
    list: ListStatement<Params, R, Item>,
    by: By<R, Item>,
    value: Item,
  ): Promise<R | undefined> {
    const all = list as unknown as AnyList;
    let asked = this.#lookUps.get(all);
    if (!asked) {
      asked = new Map();
      this.#lookUps.set(all, asked);
      process.nextTick(() => void this.#look(all, by));
    }
    const key = keyOf(value);
    const known = asked.get(key) ?? { value, found: Promise.withResolvers<unknown>() };
    asked.set(key, known);
    return known.found.promise as Promise<R | undefined>;
  }

  /** What `load` answers for a key the first time. */
  once<T>(key: string, load: () => Promise<T>): Promise<T> {
    const known = this.#rows.get(key) ?? load();
    this.#rows.set(key, known);
    return known as Promise<T>;
  }

  /** Waits until those who asked for a turn at this before are done. @param who has its turn until `done` */
  async turn(who: object, key: string): Promise<void> {
    const turns = this.#turns.get(who) ?? new Map<string, () => void>();
    this.#turns.set(who, turns);
    if (turns.has(key)) return;
    const before = this.#last.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(key, promise);
    turns.set(key, resolve);
    await before;
  }

  /** Lets the next ones have their turns. */
  done(who: object): void {
    for (const end of this.#turns.get(who)?.values() ?? []) end();
  }

  async #look(list: AnyList, by: string | readonly [string, string]): Promise<void> {
    const asked = this.#lookUps.get(list) as LookUp;
    this.#lookUps.delete(list);
    try {
      const values = [...asked.values()].map(({ value }) => value);
      const rows = (await this.#all(...list.over({}, values))) as Record<string, Value>[];
      const keyed = (row: Record<string, Value>) =>
        (typeof by === 'string' ? row[by] : [row[by[0]], row[by[1]]]) as Value | Pair;
      for (const row of rows) asked.get(keyOf(keyed(row)))?.found.resolve(row);
      for (const { found } of asked.values()) found.resolve(undefined);
    } catch (error) {
      for (const { found } of asked.values()) found.reject(error);
    }
  }
}

function keyOf(value: Value | Pair): string {
  if (isPair(value)) return value.map(keyOf).join(' ');
  return Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
}
