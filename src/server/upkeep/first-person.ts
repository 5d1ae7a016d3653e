/**
 * The first person and the local key. Whoever owns the data folder owns the server: a key that never expires lies beside
 * the database. It is made so that a crash at any step leaves either nothing or a key that the next start delivers.
 */
import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '../../contract/errors.ts';
import { reservedHandles } from '../../contract/ids.ts';
import type { Database } from '../db/tx.ts';
import { insertKey } from '../identity/credentials.store.ts';
import { earliestAdmin, insertPerson, type PersonRow, revokeLocalKeys } from '../identity/people.store.ts';
import type { RootKey } from '../identity/root-key.ts';
import { authenticate, credentialOf } from '../operation/caller.ts';
import { newId, newSecret } from '../text/ids.ts';
import { createPrivate, deliver, readPrivate, removeFile } from './private-files.ts';
import { ServeError } from './serve-error.ts';

interface Start {
  db: Database;
  root: RootKey;
  dataDir: string;
}

/** Makes sure that somebody owns this server and that `<data>/local-key` works. */
export async function ensureLocalPerson({ db, root, dataDir }: Start): Promise<{ handle: string; fresh: boolean }> {
  const file = join(dataDir, 'local-key');
  const pending = `${file}.pending`;
  const left = readPrivate(pending)?.toString('utf8').trim();
  if (left !== undefined) {
    // A start that ended half-way: its key counts if its transaction committed.
    if (await belongsToAdmin(db, root, left)) deliver(pending, file);
    else removeFile(pending);
  }
  const admin = await db.read(earliestAdmin);
  const current = readPrivate(file)?.toString('utf8').trim();
  if (!admin && current !== undefined) {
    throw new ServeError(
      'key_file_differs',
      `${file} exists, but nobody is on this server.`,
      `Move ${file} away and start again.`,
    );
  }
  if (admin && current !== undefined && (await belongsToAdmin(db, root, current)))
    return { handle: admin.handle, fresh: false };

  const token = newSecret('key');
  createPrivate(pending, `${token}\n`);
  const person = await insertOwner(db, root, token);
  if (existsSync(file)) removeFile(file);
  deliver(pending, file);
  return { handle: person.handle, fresh: admin === undefined };
}

async function belongsToAdmin(db: Database, root: RootKey, token: string): Promise<boolean> {
  try {
    const caller = await db.read((tx) => authenticate(tx, credentialOf(token, root)));
    return caller.kind === 'PK' && caller.person.server_role === 'admin';
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function insertOwner(db: Database, root: RootKey, token: string): Promise<PersonRow> {
  return db.write(async (tx) => {
    const known = await earliestAdmin(tx);
    const person: PersonRow = known ?? {
      id: newId('hum', tx.now),
      handle: localHandle(userInfo().username),
      display_name: null,
      server_role: 'admin',
      created_at: tx.now,
      removed_at: null,
      removed_by: null,
    };
    if (!known) await insertPerson(tx, person);
    for (const id of await revokeLocalKeys(tx, person.id)) tx.publish(`credential:${id}`);
    await insertKey(tx, {
      id: newId('key', tx.now),
      person_id: person.id,
      name: slug(hostname().split('.')[0] ?? '') || 'machine',
      digest: root.digest(token),
      created_at: tx.now,
      expires_at: null,
      idle_seconds: null,
      origin: 'local',
    });
    return person;
  });
}

/** The operating system's user name as a handle; `owner` where nothing usable is left of it. */
export function localHandle(userName: string): string {
  const handle = slug(userName);
  return handle === '' || reservedHandles.includes(handle) ? 'owner' : handle;
}

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
