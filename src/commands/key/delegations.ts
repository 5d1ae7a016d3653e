import { BaseCommand, booleanFlag, listFlags, stringFlag } from '../../cli/base.ts';
import { type Session, stayingAt } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import { wholeList } from '../../client/pages.ts';
import type { Delegation } from '../../contract/types.ts';
import { findKey, readKeys } from './lib/keys.ts';

export const json = () => {
  const delegations = answer('listDelegations').shape;
  return object({ person: delegations.person, delegations: delegations.delegations });
};

export default class KeyDelegations extends BaseCommand<typeof KeyDelegations> {
  static override summary = 'List the machines that bring your sessions onto boards';
  static override description =
    'A machine holds a delegation instead of your key: it lists boards, joins them and creates them for your sessions,\nand does nothing else. It ends with the key it was made with.';
  static override examples = ['service key delegations', 'service key delegations --key laptop --all --json'];
  static override seeAlso = ['key end-delegation', 'key list'];
  static override flags = {
    key: stringFlag('NAME', 'Only those made with this key'),
    all: booleanFlag('Also those that have ended', { char: 'A' }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const { server } = session;
    const { key, all } = this.flags;
    const query = { key: await keyIdNamed(session, key), state: all ? 'all' : 'working', limit: 500 };
    const { person, delegations } = await wholeList(session.client, 'listDelegations', 'delegations', { query });
    await this.printList<typeof json>({ person, delegations }, delegations, {
      of: server.url,
      rows: () => delegationRows(delegations, this.times),
      empty: 'A machine has one once a session on it joins a board: service init, service code create',
      next: delegations.length > 0 && `End one: service key end-delegation ID${stayingAt(session)}`,
    });
  }
}

/** The id of the key that a name or an id means. */
const keyIdNamed = async (session: Session, key: string | undefined): Promise<string | undefined> =>
  key === undefined || key.startsWith('key_')
    ? key
    : findKey(await readKeys(session.client, undefined), key, stayingAt(session)).id;

/** One row per delegation. */
const delegationRows = (delegations: Delegation[], times: TimeStyle): Promise<string[]> =>
  table(
    ['ID', 'NAME', 'STATE', 'KEY', 'MADE', 'ENDED'],
    delegations.map(({ id, name, key_id, created_at, state, ended_at }) => [
      id,
      name,
      state,
      key_id,
      showTime(created_at, times),
      ended_at === null ? '' : showTime(ended_at, times),
    ]),
  );
