import { booleanFlag, required, WriteCommand } from '../../cli/base.ts';
import { answer, whole } from '../../cli/shapes.ts';
import { budgetText } from './lib/budget.ts';
import { agentNamed } from './lib/own-agent.ts';

export const json = () => whole(answer('releaseAgent'));

export default class AgentRelease extends WriteCommand<typeof AgentRelease> {
  static override summary = 'Let agents wake a paused agent again';
  static override description =
    'An agent is paused, so that messages of agents wait, once its wakes are used up, or where it acknowledges nothing of what\nit reads. This gives it as many wakes again as its shortest limit has, or pauses it until tomorrow.\nFor people only: service agent delivery humans --as NAME.';
  static override examples = ['service agent release codex', 'service agent release codex --until-tomorrow'];
  static override seeAlso = ['agent budget', 'agent delivery', 'inbox'];
  static override args = { agent: required('Your agent') };
  static override flags = { 'until-tomorrow': booleanFlag('Not before tomorrow; people still wake it') };

  override async run(): Promise<void> {
    const body = this.flags['until-tomorrow']
      ? { action: 'pause' as const, until: tomorrow().toISOString() }
      : { action: 'more' as const };
    const member = agentNamed(this.args.agent, this.globals);
    const { client, board } = await this.onBoard('P');
    const { data, again } = await this.write(client, 'releaseAgent', { params: { board, member }, body });
    this.print<typeof json>(data, () => `${budgetText(data)}${again}`);
  }
}

/** The next midnight where the person is. */
function tomorrow(): Date {
  const day = new Date();
  day.setHours(24, 0, 0, 0);
  return day;
}
