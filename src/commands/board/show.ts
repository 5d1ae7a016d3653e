import { BaseCommand } from '../../cli/base.ts';
import { board, object } from '../../cli/shapes.ts';
import { boardText } from './lib/board-text.ts';

export const json = () => object({ board_record: board });

export default class BoardShow extends BaseCommand<typeof BoardShow> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'Show one board: policy, roles, counts and charter';
  static override description =
    'Everything the server tells about the board in use, or about the one named by --board.';
  static override examples = ['service board show', 'service board show --board payments --json'];
  static override seeAlso = ['board members', 'board list'];

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('A');
    const { data } = await client.call('getBoard', { params: { board } });
    this.print<typeof json>({ board_record: data }, () => boardText(data, this.times));
  }
}
