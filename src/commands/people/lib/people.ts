/** Resolves handles such as `maya`, `@maya` and `me`. */
import { runtime } from '../../../cli/runtime.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import type { Client } from '../../../client/client.ts';
import type { Person } from '../../../contract/types.ts';
import { updateCredentials } from '../../../local/keys/credentials.ts';

/** The handle that `maya`, `@maya` or `me` means; an agent's `me` is its person. */
export async function handleOf(client: Client, text: string): Promise<string> {
  if (text !== 'me') return text.replace(/^@/, '');
  const { data: me } = await client.call('getMe');
  return me.owner ?? me.name;
}

/** What this machine calls the person it is signed in as follows a new handle. */
export async function noteHandle({ entry }: Session, { id, handle }: Person): Promise<void> {
  if (entry?.person?.id !== id) return;
  await updateCredentials(runtime().folders, (saved) => {
    for (const known of Object.values(saved.servers)) if (known.person?.id === id) known.person.handle = handle;
  });
}
