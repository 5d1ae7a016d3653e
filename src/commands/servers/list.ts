import { z } from 'zod';
import { BaseCommand, listFlags } from '../../cli/base.ts';
import { wrapped } from '../../cli/help/help-text.ts';
import { called } from '../../cli/runtime.ts';
import { object, text } from '../../cli/shapes.ts';
import { screenWidth, table } from '../../cli/terminal/table.ts';
import { SERVER_RULE } from '../../local/servers.ts';
import { listServers } from './lib/servers.ts';
import { knownServer } from './lib/shapes.ts';

export const json = () => object({ servers: z.array(knownServer), default: text.nullable() });

export default class ServersList extends BaseCommand<typeof ServersList> {
  static override summary = 'List the servers this machine knows';
  static override description =
    `Sends nothing. ${SERVER_RULE}\nA server that was connected in an agent’s session does not count as logged in to, unless it was the first one.\nThe one that is used where neither a flag, a variable nor the folder names one is marked with *.`;
  static override examples = ['service servers list', 'service servers'];
  static override seeAlso = ['servers use', 'login'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    const { servers, default: standard } = listServers();
    if (this.out.listed(servers)) return;
    const rows = servers.map((s) => [s.default ? '*' : '', s.name, s.url, s.handle ?? '-']);
    const lines = [
      ...(await table(['USED', 'NAME', 'ADDRESS', 'HANDLE'], rows)),
      ...wrapped(called(SERVER_RULE), screenWidth()),
    ];
    this.print<typeof json>({ servers, default: standard }, () =>
      servers.length === 0
        ? called('No server is known yet. Create a board: service board create general')
        : lines.join('\n'),
    );
  }
}
