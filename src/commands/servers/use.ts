import { required } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { useServer } from '../../cli/known-servers.ts';

export default class ServersUse extends BaseCommand<typeof ServersUse> {
  static override summary = 'Choose the default server';
  static override description = 'The default is used where neither --server, SERVICE_SERVER nor the project names one.';
  static override examples = ['service servers use team', 'service servers use local'];
  static override seeAlso = ['servers list'];
  static override args = { name: required('Name or address of a known server, or local') };

  override async run(): Promise<void> {
    const { server, previous } = await useServer(this.args.name);
    this.out.print({ server, previous }, () => `The default server is now ${server.name} (${server.url}).`);
  }
}
