import { BaseCommand, required } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { fields } from '../../cli/terminal/fields.ts';
import { handleOf } from './lib/people.ts';

export const json = () => object({ person: answer('listPeople').options[1] });

export default class PeopleShow extends BaseCommand<typeof PeopleShow> {
  static override summary = 'Find a person by handle';
  static override description =
    'Shows handle, name and id of the person who has exactly this handle now. Guests are not found this way.';
  static override examples = ['service people show maya', 'service people show maya --as codex --json'];
  static override seeAlso = ['people list', 'board people'];
  static override args = { handle: required('Handle of the person, or me') };

  override async run(): Promise<void> {
    const { client } = await this.session('A');
    const query = { handle: await handleOf(client, this.args.handle) };
    const { data } = await client.call('listPeople', { query });
    if ('people' in data) throw new Error('the server answered one person with a list');
    this.print<typeof json>({ person: data }, () =>
      fields([
        ['handle', data.handle],
        ['name', data.display_name],
        ['id', data.id],
      ]).join('\n'),
    );
  }
}
