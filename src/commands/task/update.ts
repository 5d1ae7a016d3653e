import { integerFlag, required, stringFlag, WriteCommand } from '../../cli/base.ts';
import { readWhole } from '../../cli/stdin.ts';
import { usage } from '../../local/failure.ts';
import { changedTask } from './lib/shapes.ts';
import { asOwner, taskOut, taskRef, withTasks } from './lib/tasks.ts';

export const json = () => changedTask;

export default class TaskUpdate extends WriteCommand<typeof TaskUpdate> {
  static override summary = 'Change the title of a task, what it is about, or where it stands';
  static override description =
    'People may change all of it; an agent the title and what it is about of a task it opened or owns, and where it stands of one\nit owns or helps with. With --base it is refused when somebody wrote another version of where it stands.';
  static override examples = [
    'service task update CHK-17 --title "Cap the backoff at a minute"',
    'service task update CHK-17 --about - < about.md',
    'service task update CHK-17 --stands "Done but for the tests" --base 2',
  ];
  static override seeAlso = ['task note', 'task show'];
  static override mayBeEmpty = ['about'];
  static override args = { task: required('The task: CHK-17, 17 or tsk_…') };
  static override flags = {
    title: stringFlag('TEXT', 'What it is called'),
    about: stringFlag('TEXT|-', 'What and why; empty: nothing'),
    stands: stringFlag('TEXT|-', 'Where it stands'),
    base: integerFlag('N', 'The version of where it stands that this replaces; 0: none yet', { min: 0 }),
  };

  override async run(): Promise<void> {
    const { title, about, stands, base } = this.flags;
    if (title === undefined && about === undefined && stands === undefined)
      throw usage('Give --title, --about or --stands.');
    if (about === '-' && stands === '-') throw usage('Standard input can be one text only.');
    const text = async (given: string | undefined, what: string) =>
      given === '-' ? readWhole('-', this.out, what) : given;
    const body = {
      title,
      about: await text(about, 'what it is about'),
      stands: await text(stands, 'where it stands'),
      stands_base: base,
    };
    const task = taskRef(this.args.task);
    const session = await withTasks(await this.onBoard('A'));
    const { data, again } = await asOwner(session, task, this.key, (own) =>
      this.write(session.client, 'updateTask', {
        params: { board: session.board, task },
        body: { ...body, ...own },
      }),
    );
    const record = await taskOut(session, data, this.out);
    const changed = Object.entries({ title, about, stands }).flatMap(([name, value]) =>
      value === undefined ? [] : name,
    );
    this.print<typeof json>(record, () => `Updated ${data.ref} on ${data.board}: ${changed.join(', ')}${again}`);
  }
}
