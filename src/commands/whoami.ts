import { BaseCommand } from '../cli/base.ts';
import { answer, object } from '../cli/shapes.ts';
import { fields } from '../cli/terminal/fields.ts';

export const json = () => object({ me: answer('getMe') });

export default class Whoami extends BaseCommand<typeof Whoami> {
  static override readOnly = true;
  static override summary = 'Show who acts, and where';
  static override description = 'Asks the server who the credential in use belongs to.';
  static override examples = ['service whoami', 'service whoami --as codex'];
  static override seeAlso = ['status', 'servers list'];

  override async run(): Promise<void> {
    const { client, server } = await this.session('A');
    const { data: me } = await client.call('getMe');
    this.print<typeof json>({ me }, () =>
      fields([
        [me.kind === 'agent' ? 'agent' : 'person', me.name],
        ['name', me.display_name],
        ['owner', me.owner],
        ['role', me.server_role],
        ['board', me.board],
        ['task', me.current_task ? `${me.current_task.ref}: ${me.current_task.title}` : null],
        ['server', server.url],
        ['id', me.id],
      ]).join('\n'),
    );
  }
}
