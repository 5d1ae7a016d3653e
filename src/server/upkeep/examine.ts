/** What can be said of a database without changing it: which migrations it has. */
import { migrations } from '../../../migrations/index.ts';
import type { StorageOptions } from '../blobs/check.ts';
import { systemClock } from '../db/clock.ts';
import { openDatabase } from '../db/open.ts';
import { storageThere, withoutPassword } from './storage.ts';

/**
 * Where the database is, and which migrations it has too few or too many.
 * @throws ServeError when there is no such database; also the errors of opening it.
 */
export async function schemaOf({ dataDir, db: named }: StorageOptions) {
  const url = storageThere(dataDir, named);
  const db = await openDatabase({ url, clock: systemClock, migrate: false });
  try {
    const rows = await db.read((tx) => tx.query<{ name: string }>((knex) => knex('migrations').select('name')));
    const applied = rows.map(({ name }) => name);
    const known = migrations.map(({ name }) => name);
    return {
      db: withoutPassword(url),
      missing: known.filter((name) => !applied.includes(name)),
      unknown: applied.filter((name) => !known.includes(name)),
    };
  } finally {
    await db.close();
  }
}
