/**
 * Handing over a key as a file of the data folder, so that a crash at any step leaves either nothing or a key that the
 * next start delivers: the secret is written as `<file>.pending`, then the database is told, then the file gets its name.
 */
import { Refusal } from '../../contract/errors.ts';
import { firstFree } from '../boards/names.rules.ts';
import type { Database, WriteTx } from '../db/tx.ts';
import { IDLE_SECONDS, makeKey } from '../keys/keys.steps.ts';
import { workingKeyNames } from '../keys/keys.store.ts';
import { authenticate, type Caller, credentialOf, orRefusal } from '../operation/caller.ts';
import { audit } from '../record/audit.steps.ts';
import { newSecret } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';
import { createPrivate, deliver, readPrivate, removeFile } from './private-files.ts';
import { ServeError } from './serve-error.ts';

export interface KeyFile {
  db: Database;
  root: RootKey;
  /** The final name. */
  file: string;
}

const pendingOf = (file: string): string => `${file}.pending`;

/**
 * Ends what an earlier start left half-way: a pending key counts if its transaction committed.
 * @returns whose key was delivered; null when there was none that counts.
 */
export async function finishDelivery(key: KeyFile): Promise<Caller | null> {
  const pending = pendingOf(key.file);
  const token = readPrivate(pending)?.toString('utf8').trim();
  if (token === undefined) return null;
  const caller = await callerOf(key, token);
  if (caller === null) {
    removeFile(pending);
    return null;
  }
  if (!isAdmin(caller)) {
    throw new ServeError(
      'key_file_differs',
      `${pending} holds the key of somebody who is no admin.`,
      `Move it away and start again.`,
    );
  }
  deliver(pending, key.file);
  return caller;
}

/** Whose working key lies in the delivered file, if it is an admin's; undefined when there is no file. */
export async function deliveredTo(key: KeyFile): Promise<Caller | null | undefined> {
  const token = readPrivate(key.file)?.toString('utf8').trim();
  if (token === undefined) return undefined;
  const caller = await callerOf(key, token);
  return caller && isAdmin(caller) ? caller : null;
}

/**
 * Makes a key and delivers it.
 * @param insert tells the database of it in its one transaction; null: nothing was to be made after all.
 */
export async function issue<T>({ db, file }: KeyFile, insert: (tx: WriteTx, token: string) => Promise<T | null>) {
  const pending = pendingOf(file);
  const token = newSecret('key');
  createPrivate(pending, `${token}\n`);
  const made = await db
    .write((tx) => insert(tx, token))
    .catch((error) => {
      // A refusal changed nothing; of any other failure only the next start can tell.
      if (error instanceof Refusal || error instanceof ServeError) removeFile(pending);
      throw error;
    });
  if (made === null) removeFile(pending);
  else deliver(pending, file);
  return made;
}

const isAdmin = (caller: Caller): boolean => caller.kind === 'PK' && caller.person.server_role === 'admin';

interface HandedKey {
  personId: string;
  name: string;
  origin: 'local' | 'first_admin' | 'recovery';
  /** The secret that lies in the file. */
  token: string;
}

/** Makes the key that lies in a file, and notes it for the server's admins. Its name gets a number where it is taken. */
export async function makeHandedKey(tx: WriteTx, root: RootKey, { personId, ...key }: HandedKey): Promise<void> {
  const name = firstFree(key.name, await workingKeyNames(tx, personId));
  const ends = key.origin === 'local' ? { at: null } : { idleSeconds: IDLE_SECONDS };
  const { row } = await makeKey(tx, root, { ...key, name, personId, ends, parentKeyId: null });
  const action = key.origin === 'recovery' ? 'key.recovered' : 'key.created';
  const details = { name: row.name, origin: row.origin, person: personId };
  await audit(tx, { action, by: null, target: row.id, requestId: null, details });
}

/** Whose key it is; null when it does not work. */
async function callerOf({ db, root }: KeyFile, token: string): Promise<Caller | null> {
  const caller = await orRefusal(() => db.read((tx) => authenticate(tx, credentialOf(token, root))));
  return caller instanceof Refusal ? null : caller;
}
