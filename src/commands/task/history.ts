import { BaseCommand, choiceFlag, listFlags, required } from '../../cli/base.ts';
import { staying } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { indented } from '../../cli/terminal/fields.ts';
import { wholeList } from '../../client/pages.ts';
import { writtenText } from './lib/task-text.ts';
import { taskRef, withTasks } from './lib/tasks.ts';

export const json = () => {
  const texts = answer('listTaskTexts').shape;
  return object({ task: texts.task, field: texts.field, versions: texts.versions });
};

export default class TaskHistory extends BaseCommand<typeof TaskHistory> {
  static override readOnly = true;
  static override summary = 'Show every version of where a task stands, or of what it is about';
  static override description = 'The newest version comes first. Every one of them stays in the record.';
  static override examples = ['service task history CHK-17', 'service task history CHK-17 --field about'];
  static override seeAlso = ['task show', 'task note'];
  static override args = { task: required('The task: CHK-17, 17 or tsk_…') };
  static override flags = { field: choiceFlag(['stands', 'about'], 'Which text (default stands)'), ...listFlags };

  override async run(): Promise<void> {
    const session = await withTasks(await this.onBoard('A'));
    const { client, board } = session;
    const input = {
      params: { board, task: taskRef(this.args.task) },
      query: { field: this.flags.field, limit: 200 },
    };
    const { task, field, versions } = await wholeList(client, 'listTaskTexts', 'versions', input);
    const write = field === 'stands' ? `note ${task.ref} "TEXT"` : `update ${task.ref} --about "TEXT"`;
    await this.printList<typeof json>({ task, field, versions }, versions, {
      of: `${board} · ${task.ref}: ${field === 'stands' ? 'where it stands' : 'what it is about'}`,
      rows: () => versions.flatMap((version) => [writtenText(version, this.times), indented(version.text)]),
      empty: `Write the first one: service task ${write}${staying(session)}`,
    });
  }
}
