import { BaseCommand, booleanFlag, choiceFlag, listFlags } from '../../cli/base.ts';
import { seatToMake } from '../../cli/session/open-session.ts';
import { allMembers } from './lib/list.ts';
import { memberRows } from './lib/member-text.ts';
import { members } from './lib/shapes.ts';

export const json = () => members;

export default class BoardMembers extends BaseCommand<typeof BoardMembers> {
  static override boardFirst = true;
  static override readOnly = true;
  static override aliases = ['members'];
  static override summary = 'List people and agents on a board';
  static override description = 'People first, then agents with role, owner, harness, state and delivery mode.';
  static override examples = ['service board members', 'service board members --kind agent --json'];
  static override seeAlso = ['board people', 'agent create'];
  static override flags = {
    removed: booleanFlag('Also those who left or were removed'),
    kind: choiceFlag(['agent', 'person'], 'Only agents, or only people'),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('A');
    const members = await allMembers(client, board, { removed: this.flags.removed, kind: this.flags.kind });
    await this.printList<typeof json>({ members }, members, {
      of: board,
      rows: () => memberRows(members),
      empty: seatToMake({ board, server: this.globals.server }),
    });
  }
}
