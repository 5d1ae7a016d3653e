import { WriteCommand, words } from '../../cli/base.ts';
import { sameAsFirst } from '../../cli/repeats.ts';
import { changedTask } from './lib/shapes.ts';
import { asOwner, currentTask, taskAndText, taskOut, textOf, withTasks } from './lib/tasks.ts';

export const json = () => changedTask;

export default class TaskNote extends WriteCommand<typeof TaskNote> {
  static override summary = 'Say where a task stands';
  static override description =
    'Without a task it is about the one the agent is on. The text takes the place of the former one, which stays readable;\nif somebody wrote another one meanwhile, nothing is changed. After -- the first word is text.';
  static override usage = '[TASK] TEXT';
  static override examples = [
    'service task note "Half done: the cap works, tests are missing" --as codex',
    'service task note CHK-17 "Waiting for the review"',
    'service task note 17 - < state.md',
  ];
  static override seeAlso = ['task show', 'task history', 'task update'];
  static override mayBeEmpty = ['text'];
  static override args = { text: words('[T] TEXT: the task, then the text, or - for standard input') };

  override async run(): Promise<void> {
    const given = taskAndText(this.args.text ?? [], this.argv);
    const stands = await textOf(given.text, 'where the task stands', this.out);
    const session = await withTasks(await this.onBoard('A'));
    const params = { board: session.board, task: await currentTask(session, given.task, this.key) };
    const { data: before } = await session.client.call('getTask', { params });
    // What is said already makes no version.
    const base = await sameAsFirst(session, this.key, `version before ${stands}`, () =>
      before.stands?.text === stands ? null : (before.stands?.version ?? 0),
    );
    const { data, again } =
      base === null
        ? { data: before, again: '' }
        : await asOwner(session, params.task, this.key, (own) =>
            this.write(session.client, 'updateTask', { params, body: { stands, stands_base: base, ...own } }),
          );
    const { ref, stands: now } = data;
    const record = await taskOut(session, data, this.out);
    this.print<typeof json>(record, () => `${ref}: where it stands is now v${now?.version ?? 0}${again}`);
  }
}
