import { BaseCommand, optional, stringFlag } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { staying } from '../../cli/session/open-session.ts';
import { agentElsewhere } from '../agent/lib/own-agent.ts';
import { aboutTask, lineTarget, printLine, readLine } from './lib/lines.ts';
import { lineOfAgent } from './lib/shapes.ts';

export const json = () => lineOfAgent;

export default class LineShow extends BaseCommand<typeof LineShow> {
  static override summary = 'Show what an agent is on';
  static override description = 'Its own, or that of another agent on the board. Everybody on the board may see it.';
  static override examples = ['service line show --as codex', 'service line show codex --board general'];
  static override seeAlso = ['line working', 'line paused', 'board members'];
  static override args = { agent: optional('The agent; default: the one that acts') };
  static override flags = { task: stringFlag('T', 'Only a line about this task', { char: 'T' }) };

  override async run(): Promise<void> {
    const agent = this.args.agent === undefined ? undefined : agentElsewhere(this.args.agent, this.globals);
    const target =
      agent === undefined
        ? await lineTarget((who) => this.onBoard(who), this.globals)
        : { session: await this.onBoard('A'), member: null };
    const member = await readLine(target, agent);
    const shown = await aboutTask(target.session, member, this.flags.task);
    const mine = agent === undefined && member.line === null;
    const how = mine ? `\n${called(`Say what you are on: service line working "TEXT"${staying(target.session)}`)}` : '';
    printLine(this.out, shown, this.times, how);
  }
}
