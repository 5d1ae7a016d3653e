import { BaseCommand, required } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { object, text } from '../../cli/shapes.ts';
import { Failure, usage } from '../../local/failure.ts';
import { updateCredentials } from '../../local/keys/credentials.ts';
import { namedServer } from '../../local/servers.ts';
import { serverRow } from './lib/servers.ts';
import { knownServer } from './lib/shapes.ts';

export const json = () => object({ server: knownServer, previous: text });

export default class ServersName extends BaseCommand<typeof ServersName> {
  static override summary = 'Call a known server by another name';
  static override description =
    'The name is this machine’s own: --server takes it, and lists show it. Nothing is sent.';
  static override examples = ['service servers name https://team.example.com work'];
  static override seeAlso = ['servers list', 'servers use'];
  static override args = {
    url: required('Address or name of a known server'),
    name: required('Its new name: small letters, digits and hyphens'),
  };

  override async run(): Promise<void> {
    const { url: known, name } = this.args;
    const { folders, env } = runtime();
    if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name))
      throw usage(`"${name}" is no name: small letters, digits and hyphens, at most 40.`);
    const { server, previous } = await updateCredentials(folders, (saved) => {
      const { entry, local } = namedServer(known, saved, folders, env);
      if (local || name === 'local') throw usage('local is always this machine’s own server.', 'service servers list');
      if (!entry)
        throw new Failure('server_unknown', `Nothing is saved about ${known}.`, { hint: 'service servers list' });
      const holder = Object.values(saved.servers).find((one) => one.name === name);
      if (holder && holder !== entry) throw usage(`Another server is called ${name}.`, 'service servers list');
      const before = entry.name;
      entry.name = name;
      return { server: serverRow(namedServer(name, saved, folders, env), saved), previous: before };
    });
    this.print<typeof json>(
      { server, previous },
      () => `${server.url} is called ${server.name} now, no more ${previous}.`,
    );
  }
}
