import * as Flags from '@oclif/core/flags';
import { offlineDescription, serverDescription } from '../cli/api-description.ts';
import { BaseCommand } from '../cli/base.ts';

export default class Openapi extends BaseCommand<typeof Openapi> {
  static override summary = 'Print the description of the HTTP API';
  static override description =
    'OpenAPI 3.1 as the server in use gives it, so that other programs can be made from it. With --offline it is the\ndescription this program was built with, and nothing is sent.';
  static override examples = ['service openapi > openapi.json', 'service openapi --offline'];
  static override flags = { offline: Flags.boolean({ description: 'The one this program was built with' }) };

  override async run(): Promise<void> {
    const description = this.flags.offline
      ? await offlineDescription()
      : await serverDescription(await this.session('A'), this.timeoutMs);
    this.out.document(description);
  }
}
