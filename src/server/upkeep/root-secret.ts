/** The root secret beside the database, and the check that the two belong together. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Database } from '../db/tx.ts';
import { addMeta, readMeta } from '../settings/settings.store.ts';
import { newId } from '../text/ids.ts';
import { RootKey } from '../text/root-key.ts';
import { createPrivate, readPrivate, removeFile } from './private-files.ts';
import { ServeError } from './serve-error.ts';

/**
 * Reads `<data>/server-secret`, or makes it for a database that was never bound to one.
 * @param bound whether the database is: then a missing secret is not replaced, because nothing would work with another.
 */
export function loadRootKey(dataDir: string, bound = false): RootKey {
  const file = secretFile(dataDir);
  const known = readPrivate(file);
  // A start cut off while it made the file leaves it empty; nothing was digested with that.
  if (known?.length === 0) removeFile(file);
  else if (known) return rootKeyOf(known, file);
  if (bound) throw new ServeError('root_key_mismatch', `${file} is missing.`, restoreHint(file));
  const secret = randomBytes(32);
  createPrivate(file, secret);
  return new RootKey(secret);
}

/** @throws ServeError `root_key_mismatch` for what cannot be a root secret. */
function rootKeyOf(secret: Buffer, file: string): RootKey {
  if (secret.length === 32) return new RootKey(secret);
  throw new ServeError('root_key_mismatch', `${file} has ${secret.length} bytes instead of 32.`, restoreHint(file));
}

const secretFile = (dataDir: string): string => join(dataDir, 'server-secret');

const restoreHint = (file: string): string => `Put the one that was made with the database back at ${file}.`;

/** Whether a root secret was ever used with this database. */
export const isBound = (db: Database): Promise<boolean> =>
  db.read(async (tx) => (await readMeta(tx, 'key_check')) !== null);

/** Refuses a database that another root secret was used with, and changes nothing. @throws ServeError `root_key_mismatch` */
export async function requireSecretOf(db: Database, dataDir: string): Promise<void> {
  const known = await db.read((tx) => readMeta(tx, 'key_check'));
  if (known !== null) requireSame(known, loadRootKey(dataDir, true), dataDir);
}

function requireSame(known: string, root: RootKey, dataDir: string): void {
  if (known === root.keyCheck()) return;
  const file = secretFile(dataDir);
  throw new ServeError('root_key_mismatch', `${file} does not belong to this database.`, restoreHint(file));
}

/**
 * Binds a new database to this root key, or checks that it is bound to it; answers the server's id.
 * @throws ServeError `root_key_mismatch`: starting would silently break every credential.
 */
export async function bindDatabase(db: Database, root: RootKey, dataDir: string): Promise<string> {
  return db.write(async (tx) => {
    const known = await readMeta(tx, 'key_check');
    if (known !== null) requireSame(known, root, dataDir);
    else await addMeta(tx, 'key_check', root.keyCheck());
    const serverId = await readMeta(tx, 'server_id');
    if (serverId !== null) return serverId;
    const id = newId('srv', tx.now);
    await addMeta(tx, 'server_id', id);
    return id;
  });
}
