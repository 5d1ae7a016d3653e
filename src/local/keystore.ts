/** Where a person's key is kept: the system keychain where it works, else the credentials file; the local server's own key in place. */
import { join } from 'node:path';
import type { Pending, ServerEntry } from './credentials.ts';
import { Failure, usage } from './failure.ts';
import type { Env, Folders } from './folders.ts';
import { keychain, keychainPossible, keychainWorks } from './keychain.ts';
import { readPrivate } from './private-file.ts';

export type StoreChoice = 'auto' | 'keychain' | 'file';

/** The account under which a server's key stands in the keychain. */
export function keyAccount(serverId: string): string {
  return `key:${serverId}`;
}

/** Reads a `SERVICE_KEYSTORE` or `--store` value. */
export function storeChoice(value: string | undefined): StoreChoice {
  if (!value) return 'auto';
  if (value === 'auto' || value === 'keychain' || value === 'file') return value;
  throw usage(`SERVICE_KEYSTORE must be auto, keychain or file, but is "${value}".`);
}

/** The account of a secret that is to lead to a server's key. */
const pendingAccount = (serverId: string): string => `pending:${serverId}`;

interface Secret {
  serverId: string;
  origin: string;
  token: string;
}

/** Saves a key in the keychain if it is to be there and can be; `file` leaves the writing to the caller. */
export const saveKey = (choice: StoreChoice, key: Secret, env: Env = process.env): Promise<'keychain' | 'file'> =>
  saveSecret(choice, keyAccount(key.serverId), key, env);

/** The same for the secret of a way that was begun. */
export const savePending = (
  choice: StoreChoice,
  secret: Secret,
  env: Env = process.env,
): Promise<'keychain' | 'file'> => saveSecret(choice, pendingAccount(secret.serverId), secret, env);

async function saveSecret(
  choice: StoreChoice,
  account: string,
  { origin, token }: Secret,
  env: Env,
): Promise<'keychain' | 'file'> {
  if (choice === 'file') return 'file';
  if (keychainPossible(env) && (await keychainWorks())) {
    const value = JSON.stringify({ v: 1, origin, token });
    if ((await keychain.set(account, value)).ok) return 'keychain';
  }
  if (choice === 'auto') return 'file';
  throw new Failure('keychain_unavailable', 'There is no working keychain here, so nothing was saved.', {
    hint: 'Save it in a file of mode 0600 instead: --store file',
  });
}

/** The key of a server entry; null when the machine has none. */
export async function readKey(folders: Folders, entry: ServerEntry): Promise<string | null> {
  if (!entry.key) return null;
  if (entry.key.store === 'local-file') return readLocalKey(folders);
  if (entry.key.store === 'file') return entry.key.token ?? null;
  return fromKeychain(keyAccount(entry.server_id));
}

/** The secret of a way that was begun. */
export async function readPending(serverId: string, pending: Pending): Promise<string | null> {
  if (pending.store === 'file') return pending.token ?? null;
  return fromKeychain(pendingAccount(serverId));
}

async function fromKeychain(account: string): Promise<string> {
  const answer = keychainPossible() ? await keychain.get(account) : { ok: false as const };
  const token = answer.ok && answer.value ? tokenOf(answer.value) : null;
  if (token) return token;
  throw new Failure('keychain_locked', 'The key is in the system keychain, which did not hand it out.', {
    hint: 'Unlock the keychain and try again, or sign in anew: service login --store file',
  });
}

/** The key the local server keeps for its person. */
export function readLocalKey(folders: Folders): string | null {
  return readPrivate(join(folders.data, 'local-key'))?.trim() ?? null;
}

/** Removes a key from the keychain, if it was there. */
export async function forgetKey(entry: ServerEntry): Promise<void> {
  if (entry.key?.store === 'keychain' && keychainPossible()) await keychain.delete(keyAccount(entry.server_id));
}

/** Removes the secret of a way that was begun. */
export async function forgetPending(serverId: string, pending: Pending): Promise<void> {
  if (pending.store === 'keychain' && keychainPossible()) await keychain.delete(pendingAccount(serverId));
}

function tokenOf(value: string): string | null {
  try {
    const { token } = JSON.parse(value) as { token?: unknown };
    return typeof token === 'string' ? token : null;
  } catch {
    return null;
  }
}
