import { z } from 'zod';
import { BaseCommand, required } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { staying } from '../../cli/session/open-session.ts';
import { boardFile, message, object, task } from '../../cli/shapes.ts';
import { messageText } from '../board/lib/read/message-text.ts';
import { taskText } from './lib/task-text.ts';
import { taskRef, withTasks } from './lib/tasks.ts';

export const json = () => object({ task, files: z.array(boardFile), messages: z.array(message) });

export default class TaskShow extends BaseCommand<typeof TaskShow> {
  static override readOnly = true;
  static override summary = 'Show a task, its files and the newest messages about it';
  static override description = 'A task is named by its reference in any letter case, by its number, or by its id.';
  static override examples = ['service task show CHK-17', 'service task show 17 --json'];
  static override seeAlso = ['task history', 'task list', 'board read'];
  static override args = { task: required('The task: CHK-17, 17 or tsk_…') };

  override async run(): Promise<void> {
    const session = await withTasks(await this.onBoard('A'));
    const { client, board, agent } = session;
    const { data: task } = await client.call('getTask', { params: { board, task: taskRef(this.args.task) } });
    const about = { task: task.ref };
    const [files, messages] = await Promise.all([
      client.call('listFiles', { params: { board }, query: about }),
      client.call('listMessages', { params: { board }, query: { ...about, newest: true, limit: 20 } }),
    ]);
    const record = { task, files: files.data.files, messages: messages.data.messages };
    const { next_after: after } = files.data;
    const { prev_before: before } = messages.data;
    const stay = staying(session);
    const style = { paint: this.out.paint, times: this.times, agent };
    this.print<typeof json>(record, () =>
      [
        ...taskText(task, this.times),
        ...(record.files.length > 0 ? ['files'] : []),
        ...record.files.map((file) => `    ${file.name} v${file.latest.version}`),
        ...record.messages.map((message) => messageText(message, style)),
        ...(after === null ? [] : [called(`More: service file list --task ${task.ref} --after ${after}${stay}`)]),
        ...(before === null ? [] : [called(`Earlier: service read --task ${task.ref} --before ${before}${stay}`)]),
      ].join('\n'),
    );
  }
}
