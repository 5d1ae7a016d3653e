import { BaseCommand, optional } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { fields } from '../../cli/terminal/fields.ts';
import { infoOf } from './lib/local-control.ts';

export const json = () => object({ info: answer('getInfo') });

export default class ServerInfo extends BaseCommand<typeof ServerInfo> {
  static override readOnly = true;
  static override summary = 'Show what a server says about itself';
  static override description = 'Sends no credential and starts nothing.';
  static override examples = ['service server info', 'service server info https://team.example.com'];
  static override seeAlso = ['status', 'version'];
  static override args = { url: optional('Address of the server; default: the one in use') };

  override async run(): Promise<void> {
    const { out, timeoutMs, verbose } = this;
    const { info, url } = await infoOf(this.args.url ?? this.globals.server, { out, timeoutMs, verbose });
    out.print({ info }, () =>
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
