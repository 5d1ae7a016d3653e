/** Opens the database a URL names, migrated and ready. */
import knex, { type Knex } from 'knex';
import type { Client } from 'pg';
import { migrations } from '../../../migrations/index.ts';
import type { Clock } from './clock.ts';
import { applyMissing, migrationsIn } from './migrate.ts';
import { PostgresDatabase, quietLogger } from './postgres.ts';
import { KEEPALIVES, NO_LIMITS, PATIENCE, serverFor } from './postgres-connection.ts';
import { prepareWriter, SqliteDatabase } from './sqlite.ts';
import type { Database } from './tx.ts';

interface OpenOptions {
  /** `sqlite:///absolute/path` or `postgres://…`. */
  url: string;
  clock: Clock;
  /** Whether missing migrations are applied; without, an old schema fails at its first use. */
  migrate: boolean;
  /** Changes nothing in a file of SQLite. */
  readonly?: boolean;
  /** Most connections to Postgres for reads and writes. */
  poolSize?: number | undefined;
}

/** @throws PooledByTransaction */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { url, clock, migrate: migrates, readonly, poolSize } = options;
  const db = url.startsWith('sqlite:')
    ? new SqliteDatabase(sqliteFile(url), clock, readonly)
    : new PostgresDatabase(url, clock, poolSize);
  try {
    if (db instanceof PostgresDatabase) await db.requireSessions();
    if (migrates) await migrate(db, url);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * Applies the migrations that the open database at `url` has not; answers their names, oldest first.
 * @param begins told their names just before, unless the database was empty
 * @throws DataNewer when it is ahead of this build. @throws OlderServers
 */
export async function migrate(db: Database, url: string, begins = (_missing: string[]): void => {}): Promise<string[]> {
  // The usual start, which need not pay for a connection, a lock and Knex's ceremony.
  if ((await migrationsIn(db)).length === migrations.length) return [];
  const applied = await once(url, (own) => applyMissing(own, begins));
  // A newer build may have been here since the first look.
  await migrationsIn(db);
  return applied;
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
    log: quietLogger,
  });
}

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
            client.query(`${KEEPALIVES}; ${NO_LIMITS}`, (error) => done(error));
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
