/** The first person of a server: the owner of this machine, or the first admin of a team. There is never a second one. */
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { reservedHandles } from '../../contract/ids.ts';
import { slug } from '../../contract/text.ts';
import type { WriteTx } from '../db/tx.ts';
import { endKey } from '../keys/keys.steps.ts';
import { lockLocalKeys } from '../keys/keys.store.ts';
import { earliestAdmin, firstPersonAt, insertPerson, type PersonRow } from '../people/people.store.ts';
import type { RootKey } from '../text/root-key.ts';
import type { Start } from './data-folder.ts';
import { deliveredTo, finishDelivery, issue, type KeyFile, makeHandedKey } from './key-file.ts';
import { removeFile } from './private-files.ts';
import { ServeError } from './serve-error.ts';

export interface FirstPerson {
  handle: string;
  /** Nobody was on this server before. */
  fresh: boolean;
  /** Where their key lies, if it does. */
  keyFile: string | null;
}

/**
 * Makes sure that this server has an owner and that `<data>/local-key` works. The owner of the data folder owns the
 * server, so this key never expires.
 */
export async function ensureLocalPerson({ db, root, dataDir }: Start): Promise<FirstPerson> {
  const key: KeyFile = { db, root, file: join(dataDir, 'local-key') };
  await finishDelivery(key);
  const admin = await db.read(earliestAdmin);
  const holder = await deliveredTo(key);
  if (!admin && holder !== undefined) throw nobodyHere(key.file);
  if (admin && holder) return { handle: admin.handle, fresh: false, keyFile: key.file };
  // A key that no longer works goes first: were it removed last, a crash would leave it in the new one's way for good.
  if (holder === null) removeFile(key.file);
  const person = await issue(key, (tx, token) => insertOwner(tx, root, token));
  if (person === null) throw new Error('a local server makes its owner');
  return { handle: person.handle, fresh: admin === undefined, keyFile: key.file };
}

/**
 * Makes sure that a team has its first admin, whose key lies in `<data>/admin-key` until they take it away. Of several
 * processes of one database only one does this at a time.
 */
export async function ensureFirstAdmin({ db, root, dataDir }: Start, adminHandle: string): Promise<FirstPerson> {
  const key: KeyFile = { db, root, file: join(dataDir, 'admin-key') };
  const finished = await finishDelivery(key);
  const holder = await deliveredTo(key);
  const known = await db.read(async (tx) => ({ admin: await earliestAdmin(tx), first: await firstPersonAt(tx) }));
  if (known.first === null) {
    if (holder !== undefined) throw nobodyHere(key.file);
    const made = await issue(key, (tx, token) => insertAdmin(tx, root, adminHandle, token));
    if (made) return { handle: made.handle, fresh: true, keyFile: key.file };
  }
  const handle = finished?.person.handle ?? known.admin?.handle ?? adminHandle;
  return { handle, fresh: false, keyFile: holder === undefined ? null : key.file };
}

function nobodyHere(file: string): ServeError {
  return new ServeError(
    'key_file_differs',
    `${file} exists, but nobody is on this server.`,
    'If another database was used with this folder, start with --db; else move the file away and start again.',
  );
}

async function insertOwner(tx: WriteTx, root: RootKey, token: string): Promise<PersonRow> {
  const known = await earliestAdmin(tx);
  const person = known ?? (await insertPerson(tx, { handle: localHandle(userName()), server_role: 'admin' }));
  for (const row of await lockLocalKeys(tx)) await endKey(tx, row, { by: null, requestId: null });
  const name = slug(hostname().split('.')[0] ?? '') || 'machine';
  await makeHandedKey(tx, root, { personId: person.id, name, origin: 'local', token });
  return person;
}

async function insertAdmin(tx: WriteTx, root: RootKey, handle: string, token: string): Promise<PersonRow | null> {
  if ((await firstPersonAt(tx)) !== null) return null;
  const person = await insertPerson(tx, { handle, server_role: 'admin' });
  await makeHandedKey(tx, root, { personId: person.id, name: 'admin-key', origin: 'first_admin', token });
  return person;
}

/** Empty for a user without an account, as in many containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

/** The operating system's user name as a handle; `owner` where nothing usable is left of it. */
export function localHandle(userName: string): string {
  const handle = slug(userName);
  return handle === '' || reservedHandles.includes(handle) ? 'owner' : handle;
}
