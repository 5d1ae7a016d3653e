import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { boardListText, readBoards } from '../../cli/board-list.ts';
import { listFlags } from '../../cli/flags.ts';

export default class BoardList extends BaseCommand<typeof BoardList> {
  static override aliases = ['boards'];
  static override summary = 'List your boards';
  static override description =
    'The active boards you are on; --all adds those you could join, --archived shows the archive.';
  static override examples = ['service board list', 'service boards --all', 'service board list --json'];
  static override seeAlso = ['board create', 'board show'];
  static override flags = {
    all: Flags.boolean({ char: 'A', description: 'Also boards you are not on' }),
    archived: Flags.boolean({ description: 'Archived boards instead' }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = await this.session('A');
    const record = await readBoards(session, { all: this.flags.all, archived: this.flags.archived });
    if (this.out.mode === 'ndjson') {
      for (const board of record.boards) this.out.each(board);
      return;
    }
    const text = await boardListText(record, session.server.url);
    this.out.print(record, () => text);
  }
}
