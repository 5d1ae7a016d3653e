import { required, WriteCommand } from '../../cli/base.ts';
import { text } from '../../cli/shapes.ts';
import { changeLine, readBoard } from './lib/settings.ts';
import { changeOf } from './lib/shapes.ts';

export const json = () => changeOf(text.nullable());

export default class BoardPrefix extends WriteCommand<typeof BoardPrefix> {
  static override boardFirst = true;
  static override summary = "Set what the references of a board's tasks begin with";
  static override description =
    'For owners and their agents on the board: 2 to 6 capitals and digits, such as CHK for CHK-17. Tasks that are there keep\ntheir references, and a prefix stays with its board for good.';
  static override examples = ['service board prefix CHK --board checkout'];
  static override seeAlso = ['board show'];
  static override args = { prefix: required('The prefix for new tasks') };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const { task_prefix: before } = await readBoard(session);
    const task_prefix = this.args.prefix.toUpperCase();
    const params = { board: session.board };
    const { data, again } = await this.write(session.client, 'updateBoard', { params, body: { task_prefix } });
    const { task_prefix: after } = data;
    const line = changeLine('prefix', session.board, before ?? 'none', after ?? 'none');
    this.print<typeof json>({ before, after }, () => `${line}${again}`);
  }
}
