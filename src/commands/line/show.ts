import { optional } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { lineTarget, printLine, readLine } from '../../cli/lines.ts';

export default class LineShow extends BaseCommand<typeof LineShow> {
  static override summary = 'Show what an agent is on';
  static override description = 'Its own, or that of another agent on the board. Everybody on the board may see it.';
  static override examples = ['service line show --as codex', 'service line show codex --board general'];
  static override seeAlso = ['line working', 'line paused', 'board members'];
  static override args = { agent: optional('The agent; default: the one that acts') };

  override async run(): Promise<void> {
    const { agent } = this.args;
    const target =
      agent === undefined
        ? await lineTarget((who) => this.onBoard(who), this.globals)
        : { session: await this.onBoard('A'), member: null };
    printLine(this.out, await readLine(target, agent), this.times);
  }
}
