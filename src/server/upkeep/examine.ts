/** What can be said of a database without changing it: which migrations it has. */
import { migrations } from '../../../migrations/index.ts';
import type { StorageOptions } from '../blobs/check.ts';
import { appliedMigrations } from '../db/migrate.ts';
import { lookInto } from './data-folder.ts';
import { withoutPassword } from './storage.ts';

/**
 * Where the database is, and which migrations it has too few or too many.
 * @throws ServeError when there is no such database, or it cannot be used.
 */
export const schemaOf = (options: StorageOptions) =>
  lookInto(options, async (db, url) => {
    const applied = await appliedMigrations(db);
    const known = migrations.map(({ name }) => name);
    return {
      db: withoutPassword(url),
      missing: known.filter((name) => !applied.includes(name)),
      unknown: applied.filter((name) => !known.includes(name)),
    };
  });
