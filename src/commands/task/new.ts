import { booleanFlag, required, stringFlag, WriteCommand } from '../../cli/base.ts';
import { readWhole } from '../../cli/stdin.ts';
import { changedTask } from './lib/shapes.ts';
import { keepOwnership, taskOut, withTasks } from './lib/tasks.ts';

export const json = () => changedTask;

export default class TaskNew extends WriteCommand<typeof TaskNew> {
  static override summary = 'Open a task';
  static override description =
    'An agent starts what it opens unless --no-start is given; a person does not unless --start is.';
  static override examples = [
    'service task new "Cap the backoff" --about "Retries pile up after an outage."',
    'service task new "Cap the backoff" --no-start --as codex',
    'service task new "Release notes" --about - < notes.md',
  ];
  static override seeAlso = ['task list', 'task start', 'task done'];
  static override args = { title: required('What it is called, in up to 120 characters') };
  static override flags = {
    about: stringFlag('TEXT|-', 'What and why, or - for standard input'),
    start: booleanFlag('Start it at once', { exclusive: ['no-start'] }),
    'no-start': booleanFlag('Leave it for somebody else to pick up'),
  };

  override async run(): Promise<void> {
    const { about: given, start, 'no-start': noStart } = this.flags;
    const about = given === '-' ? await readWhole('-', this.out, 'what it is about') : given;
    const session = await withTasks(await this.onBoard('A'));
    const starts = start || (session.agent && !noStart);
    const { data, again } = await this.write(session.client, 'createTask', {
      params: { board: session.board },
      body: { title: this.args.title, about, start: starts },
    });
    await keepOwnership(session, data);
    const { ref, board, title } = data;
    const record = await taskOut(session, data, this.out, starts ? 'started' : 'other');
    this.print<typeof json>(record, () => `${starts ? 'Started' : 'New task'} ${ref} on ${board}: ${title}${again}`);
  }
}
