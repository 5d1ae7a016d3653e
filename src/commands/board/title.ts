import { optional, WriteCommand } from '../../cli/base.ts';
import { text } from '../../cli/shapes.ts';
import { escapeUntrusted } from '../../contract/text.ts';
import { changeLine, readBoard } from './lib/settings.ts';
import { changeOf } from './lib/shapes.ts';

export const json = () => changeOf(text.nullable());

export default class BoardTitle extends WriteCommand<typeof BoardTitle> {
  static override summary = 'Show or set what a board is about, in one line';
  static override description =
    'For owners and their agents on the board. Without a text it is shown; an empty one takes it away.';
  static override examples = [
    'service board title',
    'service board title "Payment rewrite" --board payments',
    'service board title "" --board payments',
  ];
  static override seeAlso = ['board charter', 'board show'];
  static override mayBeEmpty = ['text'];
  static override args = { text: optional('The title, of at most 80 characters') };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const { title: before } = await readBoard(session);
    const { text } = this.args;
    if (text === undefined) {
      this.print<typeof json>({ before, after: before }, () => before ?? `${session.board} has no title.`);
      return;
    }
    const params = { board: session.board };
    const { data, again } = await this.write(session.client, 'updateBoard', { params, body: { title: text } });
    const { title: after } = data;
    const shown = (title: string | null) => (title === null ? 'none' : `"${escapeUntrusted(title)}"`);
    this.print<typeof json>(
      { before, after },
      () => `${changeLine('title', session.board, shown(before), shown(after))}${again}`,
    );
  }
}
