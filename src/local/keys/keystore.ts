/** Stores a person's key in the system keychain if it works, else in the credentials file. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Failure, usage } from '../failure.ts';
import { type Env, type Folders, folders as usualFolders } from '../folders.ts';
import { parseJsonObject } from '../json.ts';
import { readPrivate } from '../private-file.ts';
import type { Pending, ServerEntry } from './credentials.ts';
import { type KeychainAnswer, keychain, keychainPossible, keychainState } from './keychain.ts';

type StoreChoice = 'auto' | 'keychain' | 'file';

type Kind = 'key' | 'pending';

/**
 * The account of a new secret in the keychain: the address it is for, and outside of the usual folder a hash of the folder, so
 * that no other address and no other SERVICE_HOME has the same.
 */
function newAccount(kind: Kind, origin: string, { config }: Pick<Folders, 'config'>): string {
  const suffix =
    config === usualFolders({}).config ? '' : `#${createHash('sha256').update(config).digest('hex').slice(0, 12)}`;
  return `${kind}:${origin}${suffix}`;
}

/** Earlier versions named the account by the id of the server, and did not save its name. */
const accountOf = (kind: Kind, { account }: { account?: string }, serverId: string): string =>
  account ?? `${kind}:${serverId}`;

/** Reads a `SERVICE_KEYSTORE` or `--store` value. */
export function storeChoice(value: string | undefined): StoreChoice {
  if (!value) return 'auto';
  if (value === 'auto' || value === 'keychain' || value === 'file') return value;
  throw usage(`SERVICE_KEYSTORE must be auto, keychain or file, but is "${value}".`);
}

interface Secret {
  origin: string;
  token: string;
}

/** Where a secret was saved. For `file` the caller writes it; `locked` tells whether a locked keychain is the reason. */
type Saved =
  | { stored: 'keychain'; account: string; locked?: undefined }
  | { stored: 'file'; account?: undefined; locked: boolean };

interface Around {
  env: Env;
  folders: Pick<Folders, 'config'>;
}

/** Saves a key in the keychain if that is wanted and works. */
export const saveKey = (choice: StoreChoice, key: Secret, around: Around): Promise<Saved> =>
  saveSecret(choice, 'key', key, around);

/** The same for the secret of a pending sign-in or invite. */
export const savePending = (choice: StoreChoice, secret: Secret, around: Around): Promise<Saved> =>
  saveSecret(choice, 'pending', secret, around);

/** What credentials.json says of where a secret was saved. */
export const placeOf = ({ stored: store, account }: Saved, token: string) =>
  store === 'file' ? { store, token } : { store, account };

async function saveSecret(
  choice: StoreChoice,
  kind: Kind,
  { origin, token }: Secret,
  { env, folders }: Around,
): Promise<Saved> {
  if (choice === 'file') return { stored: 'file', locked: false };
  const state = await keychainState(env);
  if (state === 'works') {
    const account = newAccount(kind, origin, folders);
    const value = JSON.stringify({ v: 1, origin, token });
    if ((await keychain.set(account, value)).ok) return { stored: 'keychain', account };
  }
  const locked = state === 'locked';
  if (choice === 'auto') return { stored: 'file', locked };
  if (locked)
    throw new Failure('keychain_locked', 'The system keychain is locked, so nothing was saved.', {
      hint: 'Unlock it and try again, or save the key in a file of mode 0600 instead: --store file',
    });
  throw new Failure('keychain_unavailable', 'There is no working keychain here, so nothing was saved.', {
    hint: 'Save it in a file of mode 0600 instead: --store file',
  });
}

/** The key of a server entry; null when the machine has none. */
export async function readKey(
  folders: Folders,
  origin: string,
  { key, server_id, name }: ServerEntry,
): Promise<string | null> {
  if (!key) return null;
  if (key.store === 'local-file') return readLocalKey(folders);
  if (key.store === 'file') return key.token ?? null;
  return fromKeychain(accountOf('key', key, server_id), origin, name);
}

/** The secret of a pending sign-in or invite. */
export async function readPending(origin: string, serverId: string, pending: Pending): Promise<string | null> {
  if (pending.store === 'file') return pending.token ?? null;
  return fromKeychain(accountOf('pending', pending, serverId), origin);
}

/** The keychain with a saved key does not work here at all, so waiting until it is unlocked is of no use. */
export class KeychainUnusable extends Failure {}

/** Null for a missing entry; one that cannot be read is an error. @param server its name, if it is known by one */
async function fromKeychain(account: string, origin: string, server?: string): Promise<string | null> {
  const answer = keychainPossible() ? await keychain.get(account) : null;
  if (answer?.ok) return tokenFor(origin, answer.value);
  const anew = `sign in anew: service login ${server ? `${server} ` : ''}--store file`;
  if (answer?.locked)
    throw new Failure('keychain_locked', 'The key is in the system keychain, which is locked.', {
      hint: `Unlock the keychain and try again, or ${anew}`,
    });
  throw new KeychainUnusable('keychain_locked', 'The key is in the system keychain, which cannot be used from here.', {
    hint: `Try again where the keychain works, such as in a desktop session, or ${anew}`,
  });
}

/** The key the local server keeps for its person. */
export function readLocalKey(folders: Folders): string | null {
  return readPrivate(join(folders.data, 'local-key'))?.trim() ?? null;
}

/**
 * Removes a key from the keychain, if it was there.
 *
 * @param now where the key that replaces it was saved
 * @throws Failure `keychain_locked`, or KeychainUnusable: it is still there
 */
export async function forgetKey(origin: string, { key, server_id }: ServerEntry, now?: Saved): Promise<void> {
  if (key?.store !== 'keychain') return;
  const account = accountOf('key', key, server_id);
  const answer = account === now?.account ? null : await forget(account, origin);
  if (!answer || answer.ok) return;
  if (answer.locked)
    throw new Failure('keychain_locked', 'The system keychain is locked, so the key in it was not removed.', {
      hint: 'Unlock it and try again',
    });
  throw new KeychainUnusable(
    'keychain_locked',
    'The system keychain cannot be used from here, so the key in it was not removed.',
    {
      hint: `Try again where the keychain works, such as in a desktop session; to leave the key there: service logout ${origin} --keep-key`,
    },
  );
}

/** Removes the secret of a pending sign-in or invite. @param now where the one that replaces it was saved */
export async function forgetPending(origin: string, serverId: string, pending: Pending, now?: Saved): Promise<void> {
  if (pending.store !== 'keychain') return;
  const account = accountOf('pending', pending, serverId);
  if (account !== now?.account) await forget(account, origin);
}

/** The secret of another address stays. */
async function forget(account: string, origin: string): Promise<KeychainAnswer> {
  if (!keychainPossible()) return { ok: false, locked: false };
  const found = await keychain.get(account);
  return found.ok && tokenFor(origin, found.value) !== null ? keychain.delete(account) : found;
}

/** A secret goes to no other address than the one it was saved for. */
function tokenFor(origin: string, value: string | null): string | null {
  const { token, origin: from } = parseJsonObject(value ?? '') ?? {};
  return from === origin && typeof token === 'string' ? token : null;
}
