import { choiceFlag, WriteCommand } from '../../cli/base.ts';
import { answer, flag, object } from '../../cli/shapes.ts';
import { usage } from '../../local/failure.ts';
import { settingChanges } from './lib/settings.ts';

export const json = () => object({ settings: answer('getSettings'), changed: flag });

export default class SettingsSet extends WriteCommand<typeof SettingsSet> {
  static override summary = "Change the server's settings";
  static override description = 'Admins only. It holds from the next request on; nobody and no board is removed by it.';
  static override examples = [
    'service settings set --board-creation admins',
    'service settings set --agents-add-people off',
  ];
  static override seeAlso = ['settings show', 'people role'];
  static override flags = {
    'board-creation': choiceFlag(['members', 'admins'], 'Who creates boards'),
    'agents-add-people': choiceFlag(['on', 'off'], 'Whether agents may add people'),
  };

  override async run(): Promise<void> {
    const { 'board-creation': creation, 'agents-add-people': adding } = this.flags;
    if (creation === undefined && adding === undefined)
      throw usage('Say which setting: --board-creation or --agents-add-people.', 'service settings set --help');
    const { client } = await this.session('P');
    const { data: before } = await client.call('getSettings');
    const body = {
      ...(creation === undefined ? {} : { board_creation: creation }),
      ...(adding === undefined ? {} : { agents_add_people: adding === 'on' }),
    };
    const { data: settings, again } = await this.write(client, 'updateSettings', { body });
    const changes = settingChanges(before, settings);
    this.print<typeof json>({ settings, changed: changes.length > 0 }, () =>
      changes.length > 0 ? changes.join('\n') : `Nothing changed${again}.`,
    );
  }
}
