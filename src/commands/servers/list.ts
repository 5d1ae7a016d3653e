import { BaseCommand } from '../../cli/base.ts';
import { listFlags } from '../../cli/flags.ts';
import { listServers } from '../../cli/known-servers.ts';
import { called } from '../../cli/runtime.ts';
import { table } from '../../cli/table.ts';

export default class ServersList extends BaseCommand<typeof ServersList> {
  static override summary = 'List the servers this machine knows';
  static override description = 'Sends nothing. The default server is marked with *.';
  static override examples = ['service servers list', 'service servers'];
  static override seeAlso = ['servers use', 'login'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    const { servers, default: standard } = listServers();
    if (this.out.mode === 'ndjson') {
      for (const server of servers) this.out.each(server);
      return;
    }
    const rows = servers.map((s) => [s.default ? '*' : ' ', s.name, s.url, s.handle ?? '-']);
    const lines = [
      ...(await table(rows)),
      servers.length > 1 ? called('Change the default: service servers use <name>') : '',
    ];
    this.out.print({ servers, default: standard }, () =>
      servers.length === 0
        ? called('No server is known yet. Create a board: service board create general')
        : lines.filter(Boolean).join('\n'),
    );
  }
}
