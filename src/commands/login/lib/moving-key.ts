/** Moves a saved key between the keychain and the file. */
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import { serverOfPerson } from '../../../cli/session/open-session.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { credentialsPath, updateCredentials } from '../../../local/keys/credentials.ts';
import { forgetKey, placeOf, readKey, saveKey } from '../../../local/keys/keystore.ts';

/** Saves the key in the other place, and only then takes it out of the one it was in. @returns `place`: where it is now, in words */
export async function moveKey(named: string | undefined, to: 'keychain' | 'file', out: Output) {
  const { env, folders } = runtime();
  const server = serverOfPerson(named);
  if (server.local) throw usage('The key of this machine’s own server stands in its data folder, and stays there.');
  const { origin, entry } = server;
  out.base.server = { name: server.name, url: origin };
  const token = entry ? await readKey(folders, origin, entry) : null;
  if (!entry?.key || token === null)
    throw new Failure('login_required', `There is no key for ${origin} on this machine.`, {
      hint: `service login ${origin}`,
    });
  const saved = await saveKey(to, { origin, token }, { env, folders });
  await updateCredentials(folders, ({ servers }) => {
    const key = servers[origin]?.key;
    if (!key) return;
    delete key.token;
    delete key.account;
    Object.assign(key, placeOf(saved, token));
  });
  await forgetKey(origin, entry, saved);
  const { id, name } = entry.key;
  return {
    record: { server_id: entry.server_id, person: entry.person, key: { id, name }, stored: to },
    url: origin,
    place: to === 'keychain' ? 'the system keychain' : credentialsPath(folders),
  };
}
