import { z } from 'zod';
import { BaseCommand, booleanFlag, listFlags, stringFlag } from '../../cli/base.ts';
import { flagWords, pageFlags, readList } from '../../cli/list.ts';
import { staying } from '../../cli/session/open-session.ts';
import { boardFile, nextText, object } from '../../cli/shapes.ts';
import { taskRef } from '../task/lib/tasks.ts';
import { fileRows } from './lib/file-text.ts';

export const json = () => object({ files: z.array(boardFile), next_after: nextText });

export default class FileList extends BaseCommand<typeof FileList> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'List the files of a board';
  static override description = 'Those that are kept current come first, then the newest.';
  static override examples = [
    'service file list',
    'service file list --task CHK-17',
    'service file list --mine --json',
  ];
  static override seeAlso = ['file show', 'file get', 'brief show'];
  static override flags = {
    task: stringFlag('TASK', 'Only those for this task', { char: 'T' }),
    mine: booleanFlag('Only those you wrote a version of'),
    maintained: booleanFlag('Only those that are kept current'),
    ...pageFlags(),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const { client, board } = session;
    const { task, mine, maintained } = this.flags;
    const query = {
      task: task === undefined ? undefined : taskRef(task),
      ...(mine ? { mine } : {}),
      ...(maintained ? { maintained } : {}),
    };
    const read = async (after: string | undefined, limit: number | undefined) =>
      (await client.call('listFiles', { params: { board }, query: { ...query, limit, after } })).data;
    const found = await readList(this.out, this.flags, 'files', read);
    if (!found) return;
    const { files, next_after: next } = found.page;
    const filters = flagWords(this.flags, ['task', 'mine', 'maintained']);
    const limit = flagWords(this.flags, ['limit']);
    const empty = filters ? 'None fits. All: service file list' : 'Put one there: service file put PATH';
    await this.printList<typeof json>({ files, next_after: next }, files, {
      of: board,
      rows: () => fileRows(files, this.times),
      empty: empty + staying(session),
      next: next !== null && `More: service file list --after ${next}${filters}${limit}${staying(session)}`,
    });
  }
}
