/** Prepared statements of the journal, and writes of rows by column name. */
import type Sqlite from 'better-sqlite3';

interface Column {
  name: string;
  /** Position in the primary key, from 1; 0 for other columns. */
  pk: number;
}

export class Statements {
  readonly #db: Sqlite.Database;
  readonly #prepared = new Map<string, Sqlite.Statement>();
  readonly #columns = new Map<string, Column[]>();

  constructor(db: Sqlite.Database) {
    this.#db = db;
  }

  prepared(sql: string): Sqlite.Statement {
    let statement = this.#prepared.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  /** Inserts or replaces a row. Fields that are not columns are ignored. */
  put(table: string, row: object): void {
    const info = this.#columnsOf(table);
    const columns = info.map(({ name }) => name);
    const keys = info.filter(({ pk }) => pk > 0).map(({ name }) => name);
    const changed = columns.filter((name) => !keys.includes(name));
    const set =
      changed.length > 0 ? `UPDATE SET ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}` : 'NOTHING';
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
      ON CONFLICT (${keys.join(', ')}) DO ${set}`;
    const values = row as Record<string, unknown>;
    this.prepared(sql).run(...columns.map((name) => values[name] ?? null));
  }

  /** Sets the named columns of the row with this key. */
  update(table: string, change: object, key: Record<string, unknown>): void {
    const names = Object.keys(change);
    const where = Object.keys(key).map((name) => `${name} = ?`);
    const sql = `UPDATE ${table} SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE ${where.join(' AND ')}`;
    this.prepared(sql).run(...Object.values(change), ...Object.values(key));
  }

  #columnsOf(table: string): Column[] {
    let columns = this.#columns.get(table);
    if (!columns) {
      columns = this.#db.pragma(`table_info(${table})`) as Column[];
      this.#columns.set(table, columns);
    }
    return columns;
  }
}
