import { BaseCommand, listFlags, stringFlag } from '../../cli/base.ts';
import { object, text } from '../../cli/shapes.ts';
import { handleOf } from '../people/lib/people.ts';
import { keyRows } from './lib/key-text.ts';
import { readKeys } from './lib/keys.ts';
import { listedKeys } from './lib/shapes.ts';

export const json = () =>
  object({
    person: listedKeys.person,
    keys: listedKeys.keys,
    current_key_id: listedKeys.current_key_id,
    current_key_previous_use: text.nullable().optional(),
  });

export default class KeyList extends BaseCommand<typeof KeyList> {
  static override aliases = ['keys'];
  static override summary = 'List your access keys';
  static override description =
    'Oldest first, ended ones too, with what works because of each. An admin may look at the keys of others.';
  static override examples = ['service key list', 'service key list --person maya', 'service keys --json'];
  static override seeAlso = ['key create', 'key revoke', 'key sessions'];
  static override flags = { person: stringFlag('HANDLE', "Somebody else's keys, as an admin"), ...listFlags };

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const { person } = this.flags;
    const list = await readKeys(client, person === undefined ? undefined : await handleOf(client, person));
    if (this.out.listed(list.keys)) return;
    const rows = await keyRows(list, this.times);
    const head = `${list.person.handle} on ${server.url} · ${list.keys.length}`;
    this.print<typeof json>(list, () => [head, ...rows].join('\n'));
  }
}
