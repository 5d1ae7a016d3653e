import { required, stringFlag, WriteCommand } from '../../cli/base.ts';
import { taskRef } from '../task/lib/tasks.ts';
import { overlapText, pathFlags, pathsOf } from './lib/claims.ts';
import { lineTarget, printLine, setLine } from './lib/lines.ts';
import { setLineOfAgent } from './lib/shapes.ts';

export const json = () => setLineOfAgent;

export default class LineWorking extends WriteCommand<typeof LineWorking> {
  static override aliases = ['working'];
  static override summary = 'Say what you work on now';
  static override description =
    'In up to 120 characters; it takes the place of the line there is, and goes when the session ends. Starting a task says it too.\nWith --paths it says on which files: who is on one of them already is named, and told of it quietly.\nA person names an agent of their own with --as.';
  static override examples = [
    'service line working "Reading the retry code" --as codex',
    'service line working "Retry cap" --paths \'src/retry/**\' --paths src/http.ts --as codex',
  ];
  static override seeAlso = ['line paused', 'line clear', 'who', 'task start'];
  static override args = { text: required('What it is') };
  static override flags = {
    task: stringFlag('T', 'The task it is about (default the current one)', { char: 'T' }),
    ...pathFlags,
  };

  override async run(): Promise<void> {
    const task = this.flags.task === undefined ? undefined : taskRef(this.flags.task);
    const body = {
      kind: 'working' as const,
      text: this.args.text,
      task,
      ...(await pathsOf(this.flags.paths, this.out)),
    };
    const reply = await setLine(await lineTarget((who) => this.onBoard(who), this.globals), body, this.key);
    printLine(this.out, reply.data, this.times, this.again(reply) + overlapText(reply.data.overlaps, this.times));
  }
}
