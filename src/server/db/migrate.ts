/** Brings a database to this build's schema, under a lock, before anything else touches it. */
import type { Knex } from 'knex';
import { type Migration, migrations } from '../../../migrations/index.ts';

/** The database was written by a newer build. */
export class DataNewer extends Error {
  override readonly name = 'DataNewer';
  constructor(names: string[]) {
    super(`the database has migrations this build does not know: ${names.join(', ')}`);
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
 * @throws DataNewer when the database is ahead of this build.
 */
export async function migrate(db: Knex): Promise<string[]> {
  // The usual start, which need not pay for a lock and Knex's ceremony.
  if ((await migrationsIn(db)).length === migrations.length) return [];
  if (!isPostgres(db)) return apply(db);
  return db.transaction(async (lock) => {
    await lock.raw('SELECT pg_advisory_xact_lock(?)', [LOCK]);
    return apply(db);
  });
}

const config: Knex.MigratorConfig = {
  migrationSource: source,
  tableName: 'migrations',
  disableMigrationsListValidation: true,
};

/** Names of the migrations a database has, oldest first. @throws DataNewer when it is ahead of this build. */
export async function migrationsIn(db: Knex): Promise<string[]> {
  const names = (await hasTable(db)) ? await db(config.tableName!).orderBy('id').pluck<string[]>('name') : [];
  const unknown = names.filter((name) => !migrations.some((known) => known.name === name));
  if (unknown.length > 0) throw new DataNewer(unknown);
  return names;
}

/** Knex's own look at its table reads a view of the whole catalog on Postgres, which takes longer than all else here. */
async function hasTable(db: Knex): Promise<boolean> {
  if (!isPostgres(db)) return db.schema.hasTable(config.tableName!);
  const { rows } = await db.raw('SELECT to_regclass(?) IS NOT NULL AS there', [config.tableName!]);
  return (rows[0] as { there: boolean }).there;
}

const isPostgres = (db: Knex): boolean => db.client.config.client === 'pg';

/** The newest migration this build knows. */
export const newestMigration = (): string => migrations.at(-1)?.name ?? '';

async function apply(db: Knex): Promise<string[]> {
  // Another process may have been here since the first look.
  if ((await migrationsIn(db)).length === migrations.length) return [];
  // Ours is the lock that counts; Knex's own is a row, which a process killed in the middle would leave behind.
  await db.migrate.forceFreeMigrationsLock(config);
  const [, applied] = (await db.migrate.latest(config)) as [number, string[]];
  return applied;
}
