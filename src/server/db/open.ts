/** Opens the database a URL names, migrated and ready. */
import knex, { type Knex } from 'knex';
import type { Client } from 'pg';
import type { Clock } from './clock.ts';
import { migrate, migrationsIn } from './migrate.ts';
import { PostgresDatabase, quietLogger } from './postgres.ts';
import { KEEPALIVES, PATIENCE, serverFor } from './postgres-connection.ts';
import { prepareWriter, SqliteDatabase } from './sqlite.ts';
import type { Database } from './tx.ts';

interface OpenOptions {
  /** `sqlite:///absolute/path` or `postgres://…`. */
  url: string;
  clock: Clock;
  /** Whether missing migrations are applied; without, an old schema fails at its first use. */
  migrate: boolean;
}

export async function openDatabase({ url, clock, migrate: migrates }: OpenOptions): Promise<Database> {
  if (migrates) await once(url, migrate);
  if (url.startsWith('sqlite:')) return new SqliteDatabase(sqliteFile(url), clock);
  return new PostgresDatabase(url, clock);
}

/** The path in `sqlite:///absolute/path`. */
export const sqliteFile = (url: string): string => decodeURIComponent(new URL(url).pathname);

function sqliteKnex(file: string): Knex {
  return knex({
    client: 'better-sqlite3',
    connection: { filename: file },
    useNullAsDefault: true,
    pool: {
      min: 1,
      max: 1,
      afterCreate(connection: Parameters<typeof prepareWriter>[0], done: (error: unknown) => void) {
        prepareWriter(connection);
        done(null);
      },
    },
  });
}

/** Names of the migrations a database has; with `apply` those that are missing come first. @throws DataNewer */
export const schemaOf = (url: string, apply: boolean): Promise<{ before: string[]; applied: string[] }> =>
  once(url, async (db) => ({ before: await migrationsIn(db), applied: apply ? await migrate(db) : [] }));

/** A connection for this alone. */
async function once<T>(url: string, work: (db: Knex) => Promise<T>): Promise<T> {
  const db = url.startsWith('sqlite:')
    ? sqliteKnex(sqliteFile(url))
    : knex({
        client: 'pg',
        connection: {
          connectionString: await serverFor(url),
          ...PATIENCE,
        } as Knex.PgConnectionConfig,
        pool: {
          min: 0,
          max: 2,
          // One of them holds the lock of the migrations.
          afterCreate(client: Client, done: (error: Error | null) => void) {
            client.query(KEEPALIVES, (error) => done(error));
          },
        },
        log: quietLogger,
      });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
