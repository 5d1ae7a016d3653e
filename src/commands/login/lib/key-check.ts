/** Asks the server whose key this is and when it was last used, before it is saved. */
import type { Client } from '../../../client/client.ts';
import { ClientError } from '../../../client/errors.ts';
import { pages } from '../../../client/pages.ts';
import type { AccessKey } from '../../../contract/types.ts';

interface CheckedKey {
  person: { id: string; handle: string; display_name: string | null; server_role: string };
  /** Null for a guest, who cannot look at keys. */
  key: AccessKey | null;
  /** When it was used before this; null: never, or not told. */
  previousUse: string | null;
}

/** @throws ClientError `unauthorized` for a key that does not work. */
export async function checkKey(client: Client): Promise<CheckedKey> {
  try {
    return await ownKey(client);
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'guest_not_allowed') throw error;
    const { data: me } = await client.call('getMe');
    const person = {
      id: me.id,
      handle: me.name,
      display_name: me.display_name,
      server_role: me.server_role ?? 'guest',
    };
    return { person, key: null, previousUse: null };
  }
}

async function ownKey(client: Client): Promise<CheckedKey> {
  let checked: CheckedKey | undefined;
  for await (const page of pages(client, 'listKeys', { query: { state: 'working', limit: 500 } })) {
    // Of the first page: to the second this check itself is a use.
    checked ??= { person: page.person, key: null, previousUse: page.current_key_previous_use };
    checked.key ??= page.keys.find((key) => key.id === page.current_key_id) ?? null;
  }
  return checked as CheckedKey;
}
