/** Brings a database to this build's schema, under a lock, before anything else touches it. */
import type { Knex } from 'knex';
import type { ClientBase, QueryResult } from 'pg';
import { type Migration, migrations } from '../../../migrations/index.ts';
import { LISTENER } from './postgres-connection.ts';
import type { Database } from './tx.ts';

/** The database was written by a newer build. */
export class DataNewer extends Error {
  override readonly name = 'DataNewer';
  constructor(names: string[]) {
    super(`the database has migrations this build does not know: ${names.join(', ')}`);
  }
}

/** Servers run that were started before the database's schema became what this build needs. */
export class OlderServers extends Error {
  override readonly name = 'OlderServers';
  constructor() {
    super('servers of an older build still run on this database');
  }
}

/** An arbitrary constant: the advisory lock of migrations on Postgres. On SQLite the data folder's lock serves. */
const LOCK = 7_400_001;

const source: Knex.MigrationSource<Migration> = {
  getMigrations: async () => [...migrations],
  getMigrationName: (migration) => migration.name,
  getMigration: async (migration) => ({ up: migration.up, down: async () => {} }),
};

/**
 * Applies what is missing, oldest first, each in a transaction; answers their names.
 * @param db a Knex instance with at least two connections on Postgres: one holds the lock.
 * @param begins told just before, unless the database was empty. @throws OlderServers
 */
export async function applyMissing(db: Knex, begins: (missing: string[]) => void): Promise<string[]> {
  if (db.client.config.client !== 'pg') return apply(db, begins);
  return db.transaction(async (lock) => {
    await lock.raw('SELECT pg_advisory_xact_lock(?)', [LOCK]);
    return apply(db, begins, () => requireNoServer(lock));
  });
}

/**
 * What a server writes that does not know the new schema would not be found by one that does. The connections of one whose
 * machine lost its power stay open for hours, but nothing moves on them; when something did is not shown of another user's.
 * @throws OlderServers
 */
async function requireNoServer(db: Knex): Promise<void> {
  const running = db('pg_stat_activity')
    .where({ datname: db.raw('current_database()'), application_name: LISTENER })
    .whereRaw("coalesce(state_change, clock_timestamp()) > clock_timestamp() - interval '1 minute'");
  if (await running.first(db.raw('1'))) throw new OlderServers();
}

const config: Knex.MigratorConfig = {
  migrationSource: source,
  tableName: 'migrations',
  disableMigrationsListValidation: true,
};

/** Names of the migrations a database has, oldest first. */
export const appliedMigrations = async (db: Database): Promise<string[]> =>
  (
    await db.read((tx) => tx.query<{ name: string }>((knex) => knex(config.tableName!).orderBy('id').select('name')))
  ).map(({ name }) => name);

/** The same, none of an empty database. @throws DataNewer when it is ahead of this build. */
export async function migrationsIn(db: Database): Promise<string[]> {
  const names = await appliedMigrations(db).catch((error: unknown) => {
    if (hasNoTable(error)) return [];
    throw error;
  });
  refuseUnknown(names);
  return names;
}

/**
 * Looks, on the connection that shows that a server runs, for what a newer build did while there was none: the connection may
 * have been lost, or this start have begun before. Waits for the end of a migration. @throws DataNewer
 */
export async function requireKnown(listener: ClientBase): Promise<void> {
  const look = `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock_shared(${LOCK}); SELECT name FROM ${config.tableName}; COMMIT`;
  const results = (await listener.query(look)) as unknown as QueryResult<{ name: string }>[];
  refuseUnknown(results.at(-2)?.rows.map(({ name }) => name) ?? []);
}

function refuseUnknown(names: string[]): void {
  const unknown = names.filter((name) => !migrations.some((known) => known.name === name));
  if (unknown.length > 0) throw new DataNewer(unknown);
}

/** Whether a table is missing. */
export const hasNoTable = (error: unknown): boolean =>
  (error as { code?: string }).code === '42P01' || (error as Error).message.startsWith('no such table');

/** The newest migration this build knows. */
export const newestMigration = (): string => migrations.at(-1)?.name ?? '';

async function apply(
  db: Knex,
  begins: (missing: string[]) => void,
  required = async (): Promise<void> => {},
): Promise<string[]> {
  const [there, missing] = (await db.migrate.list(config)) as [unknown[], Migration[]];
  if (missing.length > 0) await required();
  if (there.length > 0 && missing.length > 0) begins(missing.map(({ name }) => name));
  // Ours is the lock that counts; Knex's own is a row, which a process killed in the middle would leave behind.
  await db.migrate.forceFreeMigrationsLock(config);
  let cause: Error | undefined;
  db.on('query-error', (error: Error) => {
    cause ??= error;
  });
  try {
    const [, applied] = (await db.migrate.latest(config)) as [number, string[]];
    return applied;
  } catch (error) {
    // On a full disk SQLite takes a transaction back by itself; Knex then says only that it could not.
    throw cause ?? error;
  }
}
