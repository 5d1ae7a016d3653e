import { optional, stringFlag, WriteCommand } from '../../cli/base.ts';
import { sameAsFirst } from '../../cli/repeats.ts';
import { changedTask } from './lib/shapes.ts';
import { asOwner, currentTask, dropOwnership, taskOut, taskRef, withTasks } from './lib/tasks.ts';

export const json = () => changedTask;

export default class TaskDrop extends WriteCommand<typeof TaskDrop> {
  static override summary = 'Give up a part in a task';
  static override description =
    "Without a task it is about the one the agent is on. Without its owner a task is free for others; helpers stay. A person may\nend anybody's part with --member, which is how a task changes hands.";
  static override examples = [
    'service task drop --as codex --reason "Not my field"',
    'service task drop CHK-17 --member codex',
  ];
  static override seeAlso = ['task start', 'task done'];
  static override args = { task: optional('The task: CHK-17, 17 or tsk_…') };
  static override flags = {
    member: stringFlag('NAME', 'Whose part ends (default your own)'),
    reason: stringFlag('TEXT', 'Why, for the record'),
  };

  override async run(): Promise<void> {
    const given = this.args.task === undefined ? undefined : taskRef(this.args.task);
    const member = this.flags.member?.replace(/^@/, '');
    const { reason } = this.flags;
    const session = await withTasks(await this.onBoard('A'));
    const task = await currentTask(session, given, this.key);
    // The answer is the task without the part, which does not say what that was.
    const part = await sameAsFirst(session, this.key, `part of ${member ?? 'who drops'} in ${task}`, async () => {
      const { data } = await session.client.call('getTask', { params: { board: session.board, task } });
      const owns = member ? [data.owner?.name, data.owner?.id].includes(member) : data.ownership !== undefined;
      return owns ? 'owner' : 'helper';
    });
    const drop = (own: { ownership?: string }) =>
      this.write(session.client, 'dropTask', {
        params: { board: session.board, task },
        body: { member, reason, ...own },
      });
    const { data, again } = await asOwner(session, task, this.key, drop);
    await dropOwnership(session, data);
    const { ref } = data;
    const record = await taskOut(session, data, this.out);
    const who = member ? `${member} does` : 'You do';
    this.print<typeof json>(
      record,
      () => `${part === 'owner' ? `${ref} is free again.` : `${who} not help with ${ref} any more.`}${again}`,
    );
  }
}
