import { booleanFlag, WriteCommand, words } from '../../cli/base.ts';
import { changedTask } from './lib/shapes.ts';
import { asOwner, currentTask, taskAndText, taskOut, textOf, withTasks } from './lib/tasks.ts';

export const json = () => changedTask;

export default class TaskDone extends WriteCommand<typeof TaskDone> {
  static override summary = 'Close a task with a word on what was done';
  static override description =
    'Without a task it is about the one the agent is on. An agent closes what it owns, a person any. A closed task stays\nclosed; what comes up later is a new one. After -- the first word is text.';
  static override usage = '[TASK] NOTE';
  static override examples = [
    'service task done "The cap is a minute; tests pass" --as codex',
    'service task done CHK-17 "Not needed any more" --cancelled',
  ];
  static override seeAlso = ['task drop', 'task list', 'task new'];
  static override mayBeEmpty = ['note'];
  static override args = { note: words('[T] NOTE: the task, then the note, or - for standard input') };
  static override flags = { cancelled: booleanFlag('It was given up, not done') };

  override async run(): Promise<void> {
    const given = taskAndText(this.args.note ?? [], this.argv);
    const note = await textOf(given.text, 'the closing note', this.out);
    const session = await withTasks(await this.onBoard('A'));
    const task = await currentTask(session, given.task, this.key);
    const { data, again } = await asOwner(session, task, this.key, (own) =>
      this.write(session.client, 'finishTask', {
        params: { board: session.board, task },
        body: { note, cancelled: this.flags.cancelled, ...own },
      }),
    );
    const record = await taskOut(session, data, this.out, 'closed');
    this.print<typeof json>(record, () => `Closed ${data.ref} on ${data.board}.${again}`);
  }
}
