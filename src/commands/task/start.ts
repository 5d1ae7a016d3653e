import { required } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { taskOut, taskRef, withTasks } from '../../cli/boards/tasks.ts';
import { writeFlags } from '../../cli/flags.ts';
import { changedTask } from './lib/shapes.ts';

export const json = () => changedTask;

export default class TaskStart extends BaseCommand<typeof TaskStart> {
  static override summary = 'Take a task that nobody owns';
  static override description =
    'Of several who start it at once one gets it. For an agent it is the task it is on from now on, and its line says so.\nStarting again a task of your own selects it again.';
  static override examples = ['service task start CHK-17 --as codex', 'service task start 17'];
  static override seeAlso = ['task list', 'task join', 'task note', 'task done'];
  static override args = { task: required('The task: CHK-17, 17 or tsk_…') };
  static override flags = { ...writeFlags };

  override async run(): Promise<void> {
    const task = taskRef(this.args.task);
    const session = await withTasks(await this.onBoard('A'));
    const { data, again } = await this.write(session.client, 'startTask', { params: { board: session.board, task } });
    const { ref, board, title } = data;
    const record = await taskOut(session, data, this.out, 'started');
    this.print<typeof json>(record, () => `Started ${ref} on ${board}: ${title}${again}`);
  }
}
