import { BaseCommand, listFlags, stringFlag } from '../../cli/base.ts';
import { answer, object, text } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import type { AccessKey } from '../../contract/types.ts';
import { handleOf } from '../people/lib/people.ts';
import { readKeys } from './lib/keys.ts';

export const json = () => {
  const { person, keys, current_key_id } = answer('listKeys').shape;
  return object({ person, keys, current_key_id, current_key_previous_use: text.nullable().optional() });
};

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
    const of = `${list.person.handle} on ${server.url}`;
    await this.printList<typeof json>(list, list.keys, { of, rows: () => keyRows(list, this.times) });
  }
}

/** One row per key, the one in use marked. */
const keyRows = ({ keys, current_key_id }: Awaited<ReturnType<typeof readKeys>>, times: TimeStyle): Promise<string[]> =>
  table(
    ['NAME', 'STATE', 'LAST USED', 'ENDS', 'SESSIONS', 'AGENTS', 'NOTES'],
    keys.map((key) => [
      key.name,
      key.state,
      key.last_used_at === null ? 'never' : showTime(key.last_used_at, times),
      endOf(key, times),
      String(key.browser_sessions),
      String(key.agent_seats),
      key.id === current_key_id ? 'this machine' : '',
    ]),
  );

function endOf(key: AccessKey, times: TimeStyle): string {
  if (key.revoked_at !== null) return showTime(key.revoked_at, times);
  if (key.expires_at === null) return 'never';
  if (key.state === 'expired') return showTime(key.expires_at, times);
  const idle = key.idle_expiry_seconds;
  return idle === null ? showEnd(key.expires_at, times) : `unused for ${Math.round(idle / 86_400)}d`;
}
