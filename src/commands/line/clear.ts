import { stringFlag, WriteCommand } from '../../cli/base.ts';
import { taskRef } from '../task/lib/tasks.ts';
import { clearLine, lineTarget, printLine } from './lib/lines.ts';
import { lineOfAgent } from './lib/shapes.ts';

export const json = () => lineOfAgent;

export default class LineClear extends WriteCommand<typeof LineClear> {
  static override summary = 'Say no longer what you are on';
  static override description =
    'With --task only a line about that task is cleared. Where there is none, nothing happens.';
  static override examples = ['service line clear --as codex', 'service line clear --task CHK-17 --as codex'];
  static override seeAlso = ['line working', 'line paused', 'line show'];
  static override flags = { task: stringFlag('T', 'Only if it is about this task', { char: 'T' }) };

  override async run(): Promise<void> {
    const task = this.flags.task === undefined ? undefined : taskRef(this.flags.task);
    const reply = await clearLine(await lineTarget((who) => this.onBoard(who), this.globals), task, this.key);
    printLine(this.out, reply.data, this.times, this.again(reply));
  }
}
