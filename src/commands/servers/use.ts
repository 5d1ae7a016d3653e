import { BaseCommand, required } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { object, text } from '../../cli/shapes.ts';
import { localEntry, updateCredentials } from '../../local/keys/credentials.ts';
import { namedServer } from '../../local/servers.ts';
import { serverRow } from './lib/servers.ts';
import { knownServer } from './lib/shapes.ts';

export const json = () => object({ server: knownServer, previous: text.nullable() });

export default class ServersUse extends BaseCommand<typeof ServersUse> {
  static override summary = 'Choose the server that is used where nothing names one';
  static override description =
    'It is used where neither --server, SERVICE_SERVER nor a linked folder names one, whichever server was logged in to last.';
  static override examples = ['service servers use team', 'service servers use local'];
  static override seeAlso = ['servers list'];
  static override args = { name: required('Name or address of a known server, or local') };

  override async run(): Promise<void> {
    const { folders, env } = runtime();
    const { server, previous } = await updateCredentials(folders, (saved) => {
      const chosen = namedServer(this.args.name, saved, folders, env);
      const before = saved.default;
      // The key of its entry: that of the local one may still name an earlier port.
      saved.default = (chosen.local ? localEntry(saved)?.[0] : undefined) ?? chosen.origin;
      return { server: serverRow(chosen, saved), previous: before };
    });
    this.print<typeof json>(
      { server, previous },
      () => `${server.name} (${server.url}) is used now where nothing names another server.`,
    );
  }
}
