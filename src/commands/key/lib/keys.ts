/** Lists, finds and revokes a person's access keys. */
import { unsaved } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { requireSavable } from '../../../cli/session/savable.ts';
import type { Client } from '../../../client/client.ts';
import type { ClientError } from '../../../client/errors.ts';
import { wholeList } from '../../../client/pages.ts';
import type { AccessKey } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import {
  type Credentials,
  endSeatsOfKey,
  localEntry,
  readCredentials,
  type ServerEntry,
  updateCredentials,
} from '../../../local/keys/credentials.ts';
import { forgetKey, KeychainUnusable } from '../../../local/keys/keystore.ts';

type KeyList = Awaited<ReturnType<typeof readKeys>>;

/** All keys of the person, or of somebody else. */
export async function readKeys(client: Client, handle: string | undefined) {
  const query = { person: handle, limit: 500 };
  const { person, current_key_id, keys } = await wholeList(client, 'listKeys', 'keys', { query });
  return { person, current_key_id, keys };
}

/**
 * The key a name or id means. Among working keys a name means one; among ended ones it may mean several.
 * @param more flags with which these keys are listed
 */
export function findKey({ keys, person }: KeyList, text: string, more: string): AccessKey {
  const byId = keys.find((key) => key.id === text);
  if (byId) return byId;
  const named = keys.filter((key) => key.name === text);
  const working = named.find((key) => key.state === 'working');
  if (working) return working;
  if (named.length > 1)
    throw new Failure('key_not_selected', `${named.length} keys called ${text} have ended; none works.`, {
      hint: `Name one by its id: service key list${more} --json shows them`,
      details: { choices: named.map((key) => key.id) },
    });
  if (named[0]) return named[0];
  throw new Failure('key_not_found', `${person.handle} has no key called ${text}.`, {
    hint: `service key list${more} shows the keys there are`,
    details: { choices: keys.filter((key) => key.state === 'working').map((key) => key.name) },
  });
}

/** What somebody has to hear before their last working key is revoked, as more of the question; empty where another one works. */
export function onlyKey({ keys, person: { handle } }: KeyList, { local }: Session['server']): string {
  // This machine's own server makes its owner another one.
  if (local || keys.filter(({ state }) => state === 'working').length > 1) return '';
  return ` It is the only key of ${handle}: nobody can sign in as ${handle} after that.`;
}

/**
 * Forgets the key, now ended, that a session came with, and the tokens of agents that ended with it; one of the environment
 * was never saved. Answers whether there was one.
 */
export async function forgetKeyIn({ entry, server, choice: { out } }: Session): Promise<boolean> {
  if (!entry?.key) return false;
  const { id } = entry.key;
  return endSeats(server, id)
    .then(() => forgetKeyOf(server.url, out))
    .catch((error: unknown) => {
      const forget = `forget it: service logout ${server.url} --keep-key`;
      throw unsaved(error, 'The key has ended on the server, but is not forgotten here.', forget);
    });
}

/** Drops the tokens of this machine's agents that were made with a key which has ended. */
export async function endSeats({ url, local }: Session['server'], keyId: string): Promise<void> {
  const { folders } = runtime();
  const at = (saved: Credentials) => (local ? localEntry(saved)?.[1] : saved.servers[url]);
  const held = Object.values(at(readCredentials(folders))?.seats ?? {});
  if (!held.some(({ token }) => token !== undefined)) return;
  await updateCredentials(folders, (saved) => {
    const entry = at(saved);
    if (entry) endSeatsOfKey(entry, keyId);
  });
}

/** Whether a repeat was refused since the first request, whose answer was lost, had ended the key that both came with. */
export function endedByFirst(error: unknown): boolean {
  const { status, attempts = 1 } = error as Partial<ClientError>;
  return status === 401 && attempts > 1;
}

/** Before the key of a session ends: it must be possible to forget it. @throws Failure `folder_unwritable` */
export async function requireForgettable({ entry, server }: Session): Promise<void> {
  if (entry !== null && !server.local) await requireSavable();
}

/** Drops the key of a server from the keychain or the file; answers whether there was one. This machine's own stays in place. */
export async function forgetKeyOf(origin: string, out: Output): Promise<boolean> {
  const { folders } = runtime();
  const entry = readCredentials(folders).servers[origin];
  if (!entry?.key || entry.mode === 'local') return false;
  await takeFromKeychain(origin, entry, out);
  await updateCredentials(folders, (saved) => {
    const known = saved.servers[origin];
    if (known) known.key = null;
  });
  return true;
}

/** Where the keychain cannot be used from here, a key that is to be forgotten stays in it, which is said. */
export async function takeFromKeychain(origin: string, entry: ServerEntry, out: Output): Promise<void> {
  await forgetKey(origin, entry).catch((error: unknown) => {
    if (!(error instanceof KeychainUnusable)) throw error;
    out.warn(error.code, error.message, 'Where it works, delete the key’s entry of service-cli');
  });
}
