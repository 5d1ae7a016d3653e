/**
 * The first person and the local key. Whoever owns the data folder owns the server: a key that never expires lies beside
 * the database. It is made so that a crash at any step leaves either nothing or a key that the next start delivers.
 */
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '../../contract/errors.ts';
import { reservedHandles } from '../../contract/ids.ts';
import type { Database } from '../db/tx.ts';
import { insertKey } from '../identity/credentials.store.ts';
import { earliestAdmin, insertPerson, type PersonRow, revokeLocalKeys } from '../identity/people.store.ts';
import type { RootKey } from '../identity/root-key.ts';
import { authenticate, type Caller, credentialOf } from '../operation/caller.ts';
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
  if (left !== undefined) await finishStart(db, root, pending, file, left);
  const admin = await db.read(earliestAdmin);
  const current = readPrivate(file)?.toString('utf8').trim();
  if (!admin && current !== undefined) {
    throw new ServeError(
      'key_file_differs',
      `${file} exists, but nobody is on this server.`,
      'If another database was used with this folder, start with --db; else move the file away and start again.',
    );
  }
  if (admin && current !== undefined && (await belongsToAdmin(db, root, current)))
    return { handle: admin.handle, fresh: false };

  // A key that no longer works goes first: were it removed last, a crash would leave it in the new one's way for good.
  if (current !== undefined) removeFile(file);
  const token = newSecret('key');
  createPrivate(pending, `${token}\n`);
  const person = await insertOwner(db, root, token);
  deliver(pending, file);
  return { handle: person.handle, fresh: admin === undefined };
}

/** A start that ended half-way: its key counts if its transaction committed. */
async function finishStart(db: Database, root: RootKey, pending: string, file: string, token: string): Promise<void> {
  const caller = await callerOf(db, root, token);
  if (caller === null) {
    removeFile(pending);
    return;
  }
  if (caller.kind !== 'PK' || caller.person.server_role !== 'admin') {
    throw new ServeError(
      'key_file_differs',
      `${pending} holds the key of somebody who is no admin.`,
      `Move it away and start again.`,
    );
  }
  deliver(pending, file);
}

async function belongsToAdmin(db: Database, root: RootKey, token: string): Promise<boolean> {
  const caller = await callerOf(db, root, token);
  return caller?.kind === 'PK' && caller.person.server_role === 'admin';
}

/** Whose key it is; null when it does not work. */
async function callerOf(db: Database, root: RootKey, token: string): Promise<Caller | null> {
  try {
    return await db.read((tx) => authenticate(tx, credentialOf(token, root)));
  } catch (error) {
    if (error instanceof Refusal) return null;
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
      midturn_policy: null,
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
      parent_key_id: null,
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
