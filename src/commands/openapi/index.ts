import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { offlineDescription, publishedDescription } from './lib/api-description.ts';

export default class Openapi extends BaseCommand<typeof Openapi> {
  static override summary = 'Print the description of the HTTP API';
  static override description =
    'OpenAPI 3.1 as the server in use gives it, so that other programs can be made from it. No server is started for it:\nwhere the local one does not run, and with --offline, it is the description this program was built with.';
  static override examples = ['service openapi > openapi.json', 'service openapi --offline'];
  static override flags = { offline: Flags.boolean({ description: 'The one this program was built with' }) };

  override async run(): Promise<void> {
    const open = () => this.session('A', { autostart: false });
    const published = this.flags.offline ? null : await publishedDescription(open, this.timeoutMs);
    if (!published && !this.flags.offline) this.out.note('The local server does not run; this is what it would say.');
    this.out.document(published ?? (await offlineDescription()));
  }
}
