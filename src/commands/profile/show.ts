import { BaseCommand } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { fields } from '../../cli/terminal/fields.ts';

export const json = () => object({ me: answer('getMe') });

export default class ProfileShow extends BaseCommand<typeof ProfileShow> {
  static override summary = 'Show what a server knows of you';
  static override description = 'Handle, name, role and id.';
  static override examples = ['service profile show', 'service profile show --server team --json'];
  static override seeAlso = ['profile set', 'whoami', 'people rename'];

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const { data: me } = await client.call('getMe');
    this.print<typeof json>({ me }, () =>
      fields([
        ['handle', me.name],
        ['name', me.display_name],
        ['role', me.server_role],
        ['server', server.url],
        ['id', me.id],
      ]).join('\n'),
    );
  }
}
