import { BaseCommand } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { fields } from '../../cli/terminal/fields.ts';
import { settingRows } from './lib/settings.ts';

export const json = () => object({ settings: answer('getSettings') });

export default class SettingsShow extends BaseCommand<typeof SettingsShow> {
  static override summary = "Show the server's settings";
  static override description =
    'board-creation: who creates boards, every member or only admins. agents-add-people: whether agents may add people to\nboards; off overrides what a board says.';
  static override examples = ['service settings show', 'service settings show --server team --json'];
  static override seeAlso = ['settings set', 'server info'];

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const { data: settings } = await client.call('getSettings');
    this.print<typeof json>({ settings }, () => fields(settingRows(settings)).join('\n'));
  }
}
