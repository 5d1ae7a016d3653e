import { BaseCommand, booleanFlag, listFlags } from '../../cli/base.ts';
import { seatToMake } from '../../cli/session/open-session.ts';
import { allMembers } from './lib/list.ts';
import { memberRows } from './lib/member-text.ts';
import { members } from './lib/shapes.ts';

export const json = () => members;

export default class BoardAgents extends BaseCommand<typeof BoardAgents> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'List the agents on a board';
  static override description = 'With role, owner, harness, state and delivery mode.';
  static override examples = ['service board agents', 'service board agents --removed --json'];
  static override seeAlso = ['board members', 'agents', 'agent show'];
  static override flags = { removed: booleanFlag('Also those who left or were removed'), ...listFlags };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('A');
    const members = await allMembers(client, board, { removed: this.flags.removed, kind: 'agent' });
    await this.printList<typeof json>({ members }, members, {
      of: board,
      rows: () => memberRows(members),
      empty: seatToMake({ board, server: this.globals.server }),
    });
  }
}
