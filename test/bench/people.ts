/** A data folder with many people on its server, each with a key. Inviting them one by one would take minutes. */
import { join } from 'node:path';
import { systemClock } from '../../src/server/db/clock.ts';
import { openDatabase } from '../../src/server/db/open.ts';
import { insertKey } from '../../src/server/keys/credentials.store.ts';
import { insertPerson } from '../../src/server/people/people.store.ts';
import { newId, newSecret } from '../../src/server/text/ids.ts';
import { loadRootKey } from '../../src/server/upkeep/root-secret.ts';

export interface BenchPerson {
  handle: string;
  key: string;
}

/** Adds people to a data folder whose server does not run, or to its database on Postgres. */
export async function addPeople(
  dataDir: string,
  count: number,
  url = `sqlite://${join(dataDir, 'service.db')}`,
): Promise<BenchPerson[]> {
  const root = loadRootKey(dataDir, true);
  const db = await openDatabase({ url, clock: systemClock, migrate: false });
  const people = Array.from({ length: count }, (_, n) => ({ handle: `person-${n}`, key: newSecret('key') }));
  try {
    await db.write(async (tx) => {
      for (const { handle, key } of people) {
        const id = newId('hum', tx.now);
        await insertPerson(tx, {
          id,
          handle,
          display_name: null,
          server_role: 'member',
          created_at: tx.now,
          removed_at: null,
          removed_by: null,
          midturn_policy: null,
        });
        await insertKey(tx, {
          id: newId('key', tx.now),
          person_id: id,
          name: 'bench',
          digest: root.digest(key),
          created_at: tx.now,
          expires_at: null,
          idle_seconds: null,
          origin: 'created',
          parent_key_id: null,
        });
      }
    });
  } finally {
    await db.close();
  }
  return people;
}
