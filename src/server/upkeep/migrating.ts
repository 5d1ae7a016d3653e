/** Bringing a stopped server's database to this build's schema, apart from a start. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../db/clock.ts';
import { migrationsIn, newestMigration } from '../db/migrate.ts';
import { migrate, openDatabase, sqliteFile } from '../db/open.ts';
import { lockFolder, lostDatabase, noServer, ofDatabase, requireOwn } from './data-folder.ts';
import { storageOf } from './storage.ts';

interface Migrated {
  /** The newest migration the database had; null on an empty one. */
  from: string | null;
  /** The newest this build knows. */
  to: string;
  /** What was applied, oldest first. */
  applied: string[];
}

/**
 * Applies what is missing under the server's own lock, so no server runs on this folder meanwhile. @param status only
 * looks, also beside a running server. @throws ServeError `already_running`, `data_newer`, `storage_unreachable`
 */
export async function migrateStorage(
  { dataDir, db }: { dataDir: string; db?: string | undefined },
  status: boolean,
): Promise<Migrated> {
  if (!existsSync(join(dataDir, 'server-secret'))) throw noServer(dataDir);
  const url = storageOf(dataDir, db);
  const lost = lostDatabase(dataDir, url);
  if (url.startsWith('sqlite:') && !existsSync(sqliteFile(url))) {
    if (lost) throw lost;
    // Looking at a database makes none.
    if (status) return { from: null, to: newestMigration(), applied: [] };
  }
  const unlock = status ? () => {} : lockFolder(dataDir);
  try {
    const opened = await openDatabase({ url, clock: systemClock, migrate: false, readonly: status });
    try {
      await requireOwn(opened, dataDir, lost);
      const before = await migrationsIn(opened);
      const applied = status ? [] : await migrate(opened, url);
      return { from: before.at(-1) ?? null, to: newestMigration(), applied };
    } finally {
      await opened.close();
    }
  } catch (error) {
    throw ofDatabase(error, dataDir);
  } finally {
    unlock();
  }
}
