import { z } from 'zod';
import { BaseCommand, listFlags } from '../../cli/base.ts';
import { board, boardPerson, object } from '../../cli/shapes.ts';
import { allPeople } from './lib/list.ts';
import { personRows } from './lib/member-text.ts';

export const json = () => object({ visibility: board.shape.visibility, people: z.array(boardPerson) });

export default class BoardPeople extends BaseCommand<typeof BoardPeople> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'List the people on a board';
  static override description = 'With their role on the board and on the server.';
  static override examples = ['service board people', 'service board people --board payments --json'];
  static override seeAlso = ['board members'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('A');
    const { visibility, people } = await allPeople(client, board);
    await this.printList<typeof json>({ visibility, people }, people, { of: board, rows: () => personRows(people) });
  }
}
