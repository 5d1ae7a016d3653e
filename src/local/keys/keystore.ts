/** Stores a person's key in the system keychain if it works, else in the credentials file. */
import { join } from 'node:path';
import { Failure, usage } from '../failure.ts';
import type { Env, Folders } from '../folders.ts';
import { parseJsonObject } from '../json.ts';
import { readPrivate } from '../private-file.ts';
import type { Pending, ServerEntry } from './credentials.ts';
import { keychain, keychainPossible, keychainState } from './keychain.ts';

type StoreChoice = 'auto' | 'keychain' | 'file';

/** The account under which a server's key stands in the keychain. */
function keyAccount(serverId: string): string {
  return `key:${serverId}`;
}

/** Reads a `SERVICE_KEYSTORE` or `--store` value. */
export function storeChoice(value: string | undefined): StoreChoice {
  if (!value) return 'auto';
  if (value === 'auto' || value === 'keychain' || value === 'file') return value;
  throw usage(`SERVICE_KEYSTORE must be auto, keychain or file, but is "${value}".`);
}

/** The keychain account of the secret of a pending sign-in or invite. */
const pendingAccount = (serverId: string): string => `pending:${serverId}`;

interface Secret {
  serverId: string;
  origin: string;
  token: string;
}

/** Where a secret was saved. For `file` the caller writes it; `locked` tells whether a locked keychain is the reason. */
type Saved = { stored: 'keychain'; locked?: undefined } | { stored: 'file'; locked: boolean };

/** Saves a key in the keychain if that is wanted and works. */
export const saveKey = (choice: StoreChoice, key: Secret, env: Env = process.env): Promise<Saved> =>
  saveSecret(choice, keyAccount(key.serverId), key, env);

/** The same for the secret of a pending sign-in or invite. */
export const savePending = (choice: StoreChoice, secret: Secret, env: Env = process.env): Promise<Saved> =>
  saveSecret(choice, pendingAccount(secret.serverId), secret, env);

async function saveSecret(choice: StoreChoice, account: string, { origin, token }: Secret, env: Env): Promise<Saved> {
  if (choice === 'file') return { stored: 'file', locked: false };
  const state = await keychainState(env);
  if (state === 'works') {
    const value = JSON.stringify({ v: 1, origin, token });
    if ((await keychain.set(account, value)).ok) return { stored: 'keychain' };
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
export async function readKey(folders: Folders, entry: ServerEntry): Promise<string | null> {
  if (!entry.key) return null;
  if (entry.key.store === 'local-file') return readLocalKey(folders);
  if (entry.key.store === 'file') return entry.key.token ?? null;
  return fromKeychain(keyAccount(entry.server_id), entry.name);
}

/** The secret of a pending sign-in or invite. */
export async function readPending(serverId: string, pending: Pending): Promise<string | null> {
  if (pending.store === 'file') return pending.token ?? null;
  return fromKeychain(pendingAccount(serverId));
}

/** Null for a missing entry; one that cannot be read is an error. @param server its name, if it is known by one */
async function fromKeychain(account: string, server?: string): Promise<string | null> {
  const answer = keychainPossible() ? await keychain.get(account) : null;
  if (answer?.ok) return answer.value === null ? null : tokenOf(answer.value);
  const anew = `sign in anew: service login ${server ? `${server} ` : ''}--store file`;
  if (answer?.locked)
    throw new Failure('keychain_locked', 'The key is in the system keychain, which is locked.', {
      hint: `Unlock the keychain and try again, or ${anew}`,
    });
  throw new Failure('keychain_locked', 'The key is in the system keychain, which cannot be used from here.', {
    hint: `Try again where the keychain works, such as in a desktop session, or ${anew}`,
  });
}

/** The key the local server keeps for its person. */
export function readLocalKey(folders: Folders): string | null {
  return readPrivate(join(folders.data, 'local-key'))?.trim() ?? null;
}

/** Removes a key from the keychain, if it was there. @throws Failure `keychain_locked`: it is still there */
export async function forgetKey(entry: ServerEntry): Promise<void> {
  if (entry.key?.store !== 'keychain' || !keychainPossible()) return;
  const answer = await keychain.delete(keyAccount(entry.server_id));
  if (answer.ok || !answer.locked) return;
  throw new Failure('keychain_locked', 'The system keychain is locked, so the key in it was not removed.', {
    hint: 'Unlock it and try again',
  });
}

/** Removes the secret of a pending sign-in or invite. */
export async function forgetPending(serverId: string, pending: Pending): Promise<void> {
  if (pending.store === 'keychain' && keychainPossible()) await keychain.delete(pendingAccount(serverId));
}

function tokenOf(value: string): string | null {
  const token = parseJsonObject(value)?.['token'];
  return typeof token === 'string' ? token : null;
}
