import { z } from 'zod';
import { booleanFlag, confirmFlags, requestFlags, required } from '../../cli/flags.ts';
import { called } from '../../cli/runtime.ts';
import { type Session, stayingAt } from '../../cli/session/open-session.ts';
import { answer, object, requestedApproval } from '../../cli/shapes.ts';
import { plural } from '../../cli/terminal/fields.ts';
import type { PersonRemoval } from '../../contract/types.ts';
import { AskingCommand, personIdOf } from '../approval/lib/ask-person.ts';
import { endedByFirst, forgetKeyIn, requireForgettable } from '../key/lib/keys.ts';
import { handleOf } from './lib/people.ts';

export const json = () => z.union([object({ removal: answer('removePerson') }), requestedApproval]);

export default class PeopleRemove extends AskingCommand<typeof PeopleRemove> {
  static override summary = 'Remove a person from the server';
  static override description =
    'For server admins. Their keys, browsers and agents stop at once, and they leave every board; a board they alone owned\ngoes to its longest-standing member. What they wrote stays, and nobody else ever gets their handle.';
  static override examples = [
    'service people remove sam --dry-run',
    'service people remove sam --yes',
    'service people remove sam --request --as claude',
  ];
  static override seeAlso = ['board remove', 'board people'];
  static override args = { handle: required('Handle of the person') };
  static override flags = {
    'dry-run': booleanFlag('Say what would stop and change nothing'),
    ...requestFlags,
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    const { yes, 'dry-run': dry, request } = this.flags;
    if (request) {
      const session = await this.session('G');
      const person_id = await personIdOf(session.client, this.args.handle);
      return this.request(session, { kind: 'remove_person', person_id });
    }
    const session = await this.session('P');
    const { client, server } = session;
    let params = { handle: await handleOf(client, this.args.handle) };
    const me = session.entry?.person;
    const own = this.args.handle === 'me' || [me?.handle, me?.id].includes(params.handle);
    let before: PersonRemoval | null = null;
    if (dry || !yes || own) {
      const { data } = await client.call('removePerson', { params, query: { dry_run: true } });
      if (dry) return this.print<typeof json>({ removal: data }, () => removalFacts(data, server.url).join('\n'));
      if (own) await requireForgettable(session);
      await this.confirm(`${removalFacts(data, server.url).join(' ')} Remove ${data.person.handle}?`, yes);
      before = { ...data, dry_run: false };
      // Who was agreed to be removed, whatever they are called by now.
      params = { handle: data.person.id };
    }
    const { data, again } = await this.write(client, 'removePerson', { params }).catch((error: unknown) => {
      if (!own || !before || !endedByFirst(error)) throw error;
      return { data: before, again: '' };
    });
    if (own) await forgetKeyIn(session);
    if (data.warning) this.out.warn('no_admin_key', data.warning, '');
    this.print<typeof json>({ removal: data }, () => `${removalText(data, session)}${again}`);
  }
}

const counts = ({ keys_revoked, browser_sessions_ended, agents_removed }: PersonRemoval): string =>
  [
    plural(keys_revoked, 'key', 'keys'),
    plural(browser_sessions_ended, 'browser session', 'browser sessions'),
    plural(agents_removed, 'agent', 'agents'),
  ].join(', ');

const boards = (n: number): string => plural(n, 'board', 'boards');

/** What a removal would do, a sentence each. */
function removalFacts(removal: PersonRemoval, url: string): string[] {
  const { person, boards_left, owners_passed, unreachable_boards, warning } = removal;
  return [
    `Removing ${person.handle} from ${url} stops ${counts(removal)}; they leave ${boards(boards_left)}.`,
    ...(owners_passed > 0 ? [`${boards(owners_passed)} would get another owner.`] : []),
    ...unreachable_boards.map((id) => `Nobody could read ${id} again.`),
    ...(warning ? [warning] : []),
  ];
}

function removalText(removal: PersonRemoval, session: Session): string {
  const { url } = session.server;
  const { person, boards_left, owners_passed, unreachable_boards } = removal;
  return [
    `Removed ${person.handle} from ${url}: ${counts(removal)} stopped; left ${boards(boards_left)}.`,
    ...(owners_passed > 0 ? [`${boards(owners_passed)} got another owner.`] : []),
    ...unreachable_boards.map((id) =>
      called(`Nobody is left on ${id}; an admin can end it: service board archive --board ${id}${stayingAt(session)}`),
    ),
  ].join('\n');
}
