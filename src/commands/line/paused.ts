import { required, requiredFlag, stringFlag, WriteCommand } from '../../cli/base.ts';
import { momentOf } from '../../cli/repeats.ts';
import { moment } from '../../cli/terminal/time.ts';
import { taskRef } from '../task/lib/tasks.ts';
import { overlapText, pathFlags, pathsOf } from './lib/claims.ts';
import { lineTarget, printLine, setLine } from './lib/lines.ts';
import { setLineOfAgent } from './lib/shapes.ts';

export const json = () => setLineOfAgent;

export default class LinePaused extends WriteCommand<typeof LinePaused> {
  static override aliases = ['paused'];
  static override summary = 'Say that you pause, and until when';
  static override description =
    'Everybody on the board sees it, also after the session has ended. When the time comes and nothing else was said, it is late.';
  static override examples = [
    'service line paused "Waiting for the build" --until 20m --as codex',
    'service line paused "Back tomorrow" --until 2026-03-02T09:00:00Z',
  ];
  static override seeAlso = ['line working', 'line clear'];
  static override args = { text: required('What for') };
  static override flags = {
    until: requiredFlag('TIME', 'Until 14:20, 2h, or a date'),
    task: stringFlag('T', 'The task it is about (default the current one)', { char: 'T' }),
    ...pathFlags,
  };

  override async run(): Promise<void> {
    const task = this.flags.task === undefined ? undefined : taskRef(this.flags.task);
    // A mistake is told before anything is asked.
    if (this.key === undefined) moment(this.flags.until, '--until');
    const paths = await pathsOf(this.flags.paths, this.out);
    const target = await lineTarget((who) => this.onBoard(who), this.globals);
    const until = await momentOf(target.session, this.key, '--until', this.flags.until);
    const body = { kind: 'paused' as const, text: this.args.text, until, task, ...paths };
    const reply = await setLine(target, body, this.key);
    printLine(this.out, reply.data, this.times, this.again(reply) + overlapText(reply.data.overlaps, this.times));
  }
}
