import { booleanFlag, required, WriteCommand } from '../../cli/base.ts';
import { overlapText, pathFlags, pathsOf } from '../line/lib/claims.ts';
import { startedTask } from './lib/shapes.ts';
import { keepOwnership, taskOut, taskRef, withTasks } from './lib/tasks.ts';

export const json = () => startedTask;

export default class TaskStart extends WriteCommand<typeof TaskStart> {
  static override summary = 'Take a task that nobody owns';
  static override description =
    'Of several who start it at once one gets it. For an agent it is the task it is on from now on, and its line says so.\nStarting again a task of your own selects it again. A task whose owner is gone for long is stale: --take-over makes it\nyours, and its former owner a helper. You take over any task of your agents, and on a board that you own any at all.\nWith --paths its line says on which files it is too, as service line working does.';
  static override examples = [
    'service task start CHK-17 --as codex',
    'service task start 17',
    'service task start CHK-17 --take-over --as codex',
    "service task start CHK-17 --paths 'src/retry/**' --as codex",
  ];
  static override seeAlso = ['task list', 'task join', 'task note', 'task done', 'board policy', 'line working', 'who'];
  static override args = { task: required('The task: CHK-17, 17 or tsk_…') };
  static override flags = {
    'take-over': booleanFlag('Also if somebody owns it who left it, or whose task you may take'),
    ...pathFlags,
  };

  override async run(): Promise<void> {
    const task = taskRef(this.args.task);
    const { 'take-over': takeOver = false } = this.flags;
    const files = await pathsOf(this.flags.paths, this.out);
    const session = await withTasks(await this.onBoard('A'));
    const { data, again } = await this.write(session.client, 'startTask', {
      params: { board: session.board, task },
      ...(takeOver || files.paths ? { body: { take_over: takeOver, ...files } } : {}),
    });
    const { overlaps, ...started } = data;
    await keepOwnership(session, started);
    const { ref, board, title } = started;
    const record = await taskOut(session, started, this.out, 'started');
    this.print<typeof json>(
      { ...record, ...(overlaps ? { overlaps } : {}) },
      () => `Started ${ref} on ${board}: ${title}${again}${overlapText(overlaps, this.times)}`,
    );
  }
}
