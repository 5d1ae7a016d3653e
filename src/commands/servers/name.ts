import { BaseCommand, required } from '../../cli/base.ts';
import { object, text } from '../../cli/shapes.ts';
import { nameServer } from './lib/servers.ts';
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
    const { server, previous } = await nameServer(this.args.url, this.args.name);
    this.print<typeof json>(
      { server, previous },
      () => `${server.url} is called ${server.name} now, no more ${previous}.`,
    );
  }
}
