/**
 * A key for an admin who lost theirs, made by the owner of the data folder while the server is stopped. It makes nobody
 * an admin and no new person; nobody else, admins included, can get a key for an existing person.
 */
import { join } from 'node:path';
import { type Clock, systemClock } from '../db/clock.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { lockPeople, type PersonRow, personByHandle } from '../people/people.store.ts';
import type { RootKey } from '../text/root-key.ts';
import { type DataOptions, type Start, useData } from './data-folder.ts';
import { deliveredTo, finishDelivery, issue, makeHandedKey } from './key-file.ts';
import { ServeError } from './serve-error.ts';

const NAME = 'recovery-key';

export interface RecoverOptions extends DataOptions {
  handle: string;
  clock?: Clock;
}

/** Writes the key to `<data>/recovery-key`, which is never replaced. @throws ServeError */
export async function recoverKey(options: RecoverOptions): Promise<{ handle: string; key_file: string }> {
  const data = await useData({ ...options, existing: true }, options.clock ?? systemClock, (start) =>
    recover(start, options.handle),
  );
  await data.close();
  return { handle: options.handle, key_file: data.value };
}

async function recover({ db, root, dataDir }: Start, handle: string): Promise<string> {
  const key = { db, root, file: join(dataDir, NAME) };
  await finishDelivery(key);
  const holder = await deliveredTo(key);
  // Delivered before, perhaps by a run that was cut off: it works, so there is nothing to make.
  if (holder?.person.handle === handle) return key.file;
  if (holder !== undefined) {
    throw new ServeError(
      'local_file_exists',
      `${key.file} is there already${holder ? `, with a key of @${holder.person.handle}` : ''}, and is not replaced.`,
      'Take what it holds to its person, remove the file and run this again.',
    );
  }
  await db.read((tx) => requireAdmin(tx, handle));
  await issue(key, (tx, token) => insertKey(tx, root, handle, token));
  return key.file;
}

async function insertKey(tx: WriteTx, root: RootKey, handle: string, token: string): Promise<PersonRow> {
  await lockPeople(tx);
  const person = await requireAdmin(tx, handle);
  await makeHandedKey(tx, root, { personId: person.id, name: NAME, origin: 'recovery', token });
  return person;
}

/** @throws ServeError `person_not_found`, `server_admin_required` unless somebody present has this handle and is an admin. */
async function requireAdmin(tx: ReadTx, handle: string): Promise<PersonRow> {
  const person = await personByHandle(tx, handle);
  if (!person) throw new ServeError('person_not_found', `Nobody here is @${handle}.`, 'Name an admin of this server.');
  if (person.server_role === 'admin') return person;
  throw new ServeError(
    'server_admin_required',
    `@${handle} is no admin, and a recovered key makes nobody one.`,
    'Name an admin of this server.',
  );
}
