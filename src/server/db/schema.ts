/** Helpers for migrations where the engines differ, or where a name has a meaning at run time. */
import type { Knex } from 'knex';

const isPostgres = (db: Knex) => db.client.config.client === 'pg';

/** A unique index named `table__a__b`, from which the refusal of a row is told (see dialect.ts). */
export async function uniqueIndex(db: Knex, table: string, columns: string[], where?: string): Promise<void> {
  const name = [table, ...columns].join('__');
  await db.schema.raw(
    `CREATE UNIQUE INDEX ${name} ON ${table} (${columns.join(', ')})${where === undefined ? '' : ` WHERE ${where}`}`,
  );
}

/** Lets the engine itself refuse every change and removal of a row. */
export async function appendOnly(db: Knex, table: string): Promise<void> {
  if (isPostgres(db)) {
    await db.schema.raw(
      `CREATE FUNCTION ${table}_append_only() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION '${table} is append-only'; END $$ LANGUAGE plpgsql`,
    );
    await db.schema.raw(
      `CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_append_only()`,
    );
    return;
  }
  for (const action of ['UPDATE', 'DELETE']) {
    await db.schema.raw(
      `CREATE TRIGGER ${table}_no_${action.toLowerCase()} BEFORE ${action} ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END`,
    );
  }
}

/**
 * The words of documents for full-text search: on Postgres a column of `documents` with its index, on SQLite an index
 * of its own, by the documents' number. The words come split and folded, so the engine's own rules do not matter.
 */
export async function createWordIndex(db: Knex, documents: string, words: string): Promise<void> {
  if (isPostgres(db)) {
    await db.schema.raw(`ALTER TABLE ${documents} ADD COLUMN words tsvector NOT NULL`);
    // Of long documents, whose words have more places than the column above holds: all of them, in order.
    await db.schema.raw(`ALTER TABLE ${documents} ADD COLUMN phrases text`);
    await db.schema.raw(`CREATE INDEX ${words} ON ${documents} USING gin (words)`);
    return;
  }
  await db.schema.raw(
    `CREATE VIRTUAL TABLE ${words} USING fts5(words, content='', contentless_delete=1, tokenize='ascii')`,
  );
}

/**
 * Lets statements be planned for a board that has an eighth of all rows of the table, not the average share: a plan for a
 * large board serves a small one as well, one for a small board reads all of a large one.
 */
export async function planForLargeBoards(db: Knex, table: string): Promise<void> {
  if (!isPostgres(db)) return;
  await db.schema.raw(`ALTER TABLE ${table} ALTER COLUMN board_id SET (n_distinct = 8)`);
  await db.schema.raw(`ANALYZE ${table}`);
}

/** A number that every write draws from, so that other processes notice writes. One process on a file needs none. */
export async function createCounter(db: Knex, name: string): Promise<void> {
  if (isPostgres(db)) await db.schema.raw(`CREATE SEQUENCE ${name} CACHE 1`);
}

/** A number that grows with each row; on SQLite the row's own number, which costs nothing. */
export function insertionOrder(db: Knex, table: Knex.CreateTableBuilder, column: string): void {
  table.specificType(column, isPostgres(db) ? 'bigserial PRIMARY KEY' : 'integer PRIMARY KEY');
}

/** Where the bytes of files lie in pieces, on Postgres if they are to lie in the database; SQLite has no such store. */
export async function createChunks(db: Knex, name: string): Promise<void> {
  if (!isPostgres(db)) return;
  await db.schema.createTable(name, (t) => {
    t.text('digest').notNullable();
    t.integer('n').notNullable();
    t.binary('bytes').notNullable();
    t.bigInteger('at').notNullable();
    t.primary(['digest', 'n']);
  });
  // Most of it does not get smaller, and is written and read faster as it is.
  await db.schema.raw(`ALTER TABLE ${name} ALTER COLUMN bytes SET STORAGE EXTERNAL`);
}
