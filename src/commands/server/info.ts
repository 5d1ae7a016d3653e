import { BaseCommand, optional } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { clientOptions, serverOfPerson } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { fields } from '../../cli/terminal/fields.ts';
import { Client } from '../../client/client.ts';
import { Failure } from '../../local/failure.ts';
import { canonicalOrigin, looksLikeUrl } from '../../local/origin.ts';
import { localAddress, originOf } from '../../local/own-server/address.ts';
import { accepts } from '../../local/own-server/probe.ts';
import { currentServer } from '../../local/own-server/running.ts';

export const json = () => object({ info: answer('getInfo') });

export default class ServerInfo extends BaseCommand<typeof ServerInfo> {
  static override readOnly = true;
  static override summary = 'Show what a server says about itself';
  static override description = 'Sends no credential and starts nothing.';
  static override examples = ['service server info', 'service server info https://team.example.com'];
  static override seeAlso = ['status', 'version'];
  static override args = { url: optional('Address of the server; default: the one in use') };

  override async run(): Promise<void> {
    const { url, local } = await whichServer(this.args.url ?? this.globals.server);
    if (local && !(await accepts(url)))
      throw new Failure('server_not_running', `The local server at ${url} does not run.`, {
        hint: 'service server start',
      });
    const { data: info } = await new Client({ origin: url, ...clientOptions(this.deps) }).call('getInfo');
    this.print<typeof json>({ info }, () =>
      fields([
        ['url', url],
        ['version', info.version],
        ['mode', info.mode],
        ['server', info.server_id],
        ['storage', `${info.storage.db}, files in ${info.storage.files}`],
        ['features', info.features.join(', ')],
      ]).join('\n'),
    );
  }
}

async function whichServer(named: string | undefined): Promise<{ url: string; local: boolean }> {
  const { env, folders } = runtime();
  if (named && looksLikeUrl(named)) return { url: canonicalOrigin(named), local: false };
  const server = serverOfPerson(named);
  if (!server.local) return { url: server.origin, local: false };
  return { url: (await currentServer(folders, env))?.url ?? originOf(localAddress(folders, env)), local: true };
}
