import { z } from 'zod';
import { requestFlags, stringFlag } from '../../cli/flags.ts';
import { without } from '../../cli/session/here.ts';
import type { BoardSession } from '../../cli/session/open-session.ts';
import { boardPerson, flag, object, requestedApproval } from '../../cli/shapes.ts';
import type { BoardPerson } from '../../contract/types.ts';
import { usage } from '../../local/failure.ts';
import { AskingCommand, roleWanted } from '../approval/lib/ask-person.ts';
import { handleOf } from '../people/lib/people.ts';
import { allPeople } from './lib/list.ts';
import { personRows } from './lib/member-text.ts';

export const json = () =>
  z.union([
    object({ owners: z.array(boardPerson) }),
    object({ person: boardPerson, changed: flag }),
    requestedApproval,
  ]);

export default class BoardOwners extends AskingCommand<typeof BoardOwners> {
  static override boardFirst = true;
  static override readOnly = without('add', 'remove');
  static override summary = 'List the owners of a board, or change who owns it';
  static override description =
    'Owners change its charter, roles and policy, open and close it, remove people and make owners. A board keeps at least\none. Without a flag they are listed.';
  static override examples = [
    'service board owners',
    'service board owners --add maya --board payments',
    'service board owners --remove sam --board payments',
    'service board owners --add maya --request --as claude',
  ];
  static override seeAlso = ['board people', 'board remove'];
  static override flags = {
    add: stringFlag('HANDLE', 'Make this person an owner', { exclusive: ['remove'] }),
    remove: stringFlag('HANDLE', 'Make this owner a member again'),
    ...requestFlags,
  };

  override async run(): Promise<void> {
    const { add, remove, request } = this.flags;
    const named = add ?? remove;
    if (request) {
      if (named === undefined) throw usage('--request asks for a change: say which with --add or --remove.');
      const session = await this.onBoard('G');
      const wanted = await roleWanted(session, named, add === undefined ? 'member' : 'owner');
      return this.request(session, wanted);
    }
    if (add !== undefined) return this.change(await this.onBoard('P'), 'makeBoardOwner', add);
    if (remove !== undefined) return this.change(await this.onBoard('P'), 'unmakeBoardOwner', remove);
    const session = await this.onBoard('A');
    const owners = await ownersOf(session);
    const rows = await personRows(owners);
    this.print<typeof json>({ owners }, () => [`${session.board} · ${owners.length}`, ...rows].join('\n'));
  }

  private async change(session: BoardSession, operation: 'makeBoardOwner' | 'unmakeBoardOwner', typed: string) {
    const { client, board } = session;
    const handle = await handleOf(client, typed);
    const owned = (await ownersOf(session)).some((owner) => owner.handle === handle);
    const making = operation === 'makeBoardOwner';
    const { data: person, again } = making
      ? await this.write(client, 'makeBoardOwner', { params: { board }, body: { handle } })
      : await this.write(client, 'unmakeBoardOwner', { params: { board, handle } });
    const changed = owned !== making;
    const said = making ? (changed ? `owns ${board} too` : `owns ${board} already`) : '';
    const unsaid = changed ? `no longer owns ${board}` : `does not own ${board}`;
    this.print<typeof json>({ person, changed }, () => `${handle} ${said || unsaid}.${again}`);
  }
}

const ownersOf = async ({ client, board }: BoardSession): Promise<BoardPerson[]> =>
  (await allPeople(client, board)).people.filter((person) => person.board_role === 'owner');
