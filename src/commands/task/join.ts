import { required, WriteCommand } from '../../cli/base.ts';
import { changedTask } from './lib/shapes.ts';
import { dropOwnership, taskOut, taskRef, withTasks } from './lib/tasks.ts';

export const json = () => changedTask;

export default class TaskJoin extends WriteCommand<typeof TaskJoin> {
  static override summary = 'Help with a task';
  static override description =
    'A helper may say where the task stands; closing it is for its owner and for people. Any number may help.';
  static override examples = ['service task join CHK-17 --as codex'];
  static override seeAlso = ['task start', 'task note', 'task drop'];
  static override args = { task: required('The task: CHK-17, 17 or tsk_…') };

  override async run(): Promise<void> {
    const task = taskRef(this.args.task);
    const session = await withTasks(await this.onBoard('A'));
    const { data, again } = await this.write(session.client, 'joinTask', { params: { board: session.board, task } });
    const { ref, title, owner, ownership } = data;
    const own = ownership !== undefined;
    // Who joins knows that the task is another's by now.
    if (!own) await dropOwnership(session, data);
    const record = await taskOut(session, data, this.out);
    const help = owner ? `help ${owner.name} with` : 'help with';
    this.print<typeof json>(record, () => `You ${own ? 'own' : help} ${ref}: ${title}${again}`);
  }
}
