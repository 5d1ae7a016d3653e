/** What can be said of a server's data without changing it: its schema, and the files whose bytes are not what they were. */
import { migrations } from '../../../migrations/index.ts';
import { type BadBytes, checkStorage, type StorageOptions } from '../blobs/check.ts';
import { systemClock } from '../db/clock.ts';
import { openDatabase } from '../db/open.ts';
import { storageThere, withoutPassword } from './storage.ts';

interface Schema {
  /** Where the database is, without a password. */
  db: string;
  /** Migrations of this build that it does not have. */
  missing: string[];
  /** Migrations it has that this build does not know. */
  unknown: string[];
}

/** @throws ServeError when there is no such database; also the errors of opening it. */
export async function schemaOf({ dataDir, db: named }: StorageOptions): Promise<Schema> {
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

interface ExaminedFiles {
  /** Where the bytes are, as `--to` takes it. */
  files: string;
  checked: number;
  bad: BadBytes[];
  /** False: there was no time for all of them. */
  complete: boolean;
}

/** Reads the bytes of every version until `enough`. @throws ServeError. */
export async function examineFiles(
  options: StorageOptions & { files?: string | undefined },
  enough: () => boolean,
): Promise<ExaminedFiles> {
  const { url, checked, bad, complete } = await checkStorage(options, { enough });
  return { files: url, checked, bad, complete };
}
