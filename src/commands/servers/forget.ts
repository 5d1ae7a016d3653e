import { BaseCommand, confirmFlags, required } from '../../cli/base.ts';
import type { Output } from '../../cli/output.ts';
import { runtime } from '../../cli/runtime.ts';
import { object, text } from '../../cli/shapes.ts';
import { Failure } from '../../local/failure.ts';
import { localEntry, readCredentials, updateCredentials } from '../../local/keys/credentials.ts';
import { forgetPending } from '../../local/keys/keystore.ts';
import { namedServer } from '../../local/servers.ts';
import { takeFromKeychain } from '../key/lib/keys.ts';
import { begun } from '../key/lib/pending-keys.ts';
import { serverRow } from './lib/servers.ts';
import { knownServer } from './lib/shapes.ts';

export const json = () => object({ server: knownServer, previous: text.nullable() });

export default class ServersForget extends BaseCommand<typeof ServersForget> {
  static override summary = 'Forget a server: its key and its seats on this machine';
  static override description =
    'Nothing is revoked on the server: the key stays valid there. Asks first when agents would lose their tokens, or a\nnew account its only key.';
  static override examples = ['service servers forget team', 'service servers forget team --yes'];
  static override seeAlso = ['servers list', 'login'];
  static override args = { name: required('Name or address of a known server') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const { name } = this.args;
    const { folders, env } = runtime();
    const { entry } = namedServer(name, readCredentials(folders), folders, env, { begun: true });
    const seats = Object.values(entry?.seats ?? {}).filter((seat) => seat.token);
    const held = seats.map((seat) => `${seat.name} on ${seat.board}`).join(', ');
    if (held) await this.confirm(`Forget ${name}, and with it the tokens of ${held}?`, this.flags.yes);
    if (begun(entry, 'invite') || begun(entry, 'guest')) {
      const question = `Forget ${name}, and with it the key of an account that may have been made there?`;
      await this.confirm(question, this.flags.yes);
    }
    const { server, previous } = await forgetServer(name, this.out);
    this.print<typeof json>(
      { server, previous },
      () => `Forgot ${server.name} (${server.url})${server.key === null ? '' : '; its key still works there'}.`,
    );
  }
}

/** Drops what is saved about a server. */
async function forgetServer(name: string, out: Output) {
  const { folders, env } = runtime();
  const server = namedServer(name, readCredentials(folders), folders, env, { begun: true });
  const { origin, entry } = server;
  if (!entry) throw new Failure('server_unknown', `Nothing is saved about ${name}.`, { hint: 'service servers list' });
  await takeFromKeychain(origin, entry, out);
  if (entry.pending) await forgetPending(origin, entry.server_id, entry.pending);
  return updateCredentials(folders, (now) => {
    const result = { server: serverRow(server, now), previous: now.default };
    const place = server.local ? localEntry(now)?.[0] : origin;
    if (place !== undefined) delete now.servers[place];
    if (result.server.default) now.default = null;
    return result;
  });
}
