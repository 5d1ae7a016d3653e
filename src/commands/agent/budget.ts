import { booleanFlag, required, stringFlag, WriteCommand } from '../../cli/base.ts';
import { without } from '../../cli/session/here.ts';
import { answer, whole } from '../../cli/shapes.ts';
import { requireFeature } from '../../client/features.ts';
import { budgetOf, budgetText, costOf, wakesOf } from './lib/budget.ts';
import { agentNamed } from './lib/own-agent.ts';

export const json = () => whole(answer('setAgentBudget'));

export default class AgentBudget extends WriteCommand<typeof AgentBudget> {
  static override readOnly = without('wakes', 'cost', 'off');
  static override summary = "Show or set how often agents' messages may wake an agent, and what it may cost";
  static override description =
    "Each time the agent takes messages of agents that concern it, and none of a person, is one wake; usual are 40 in 10\nminutes and 400 in 24 hours. With none left it is paused: agents' messages wait, and what a person writes wakes it as\never. A new limit ends the pause that the old one made. Cost is known only of programs that tell it.";
  static override examples = [
    'service agent budget codex',
    'service agent budget codex --wakes 40/10m,400/24h',
    'service agent budget codex --cost 5/24h',
    'service agent budget codex --off',
  ];
  static override seeAlso = ['agent release', 'agent delivery', 'board policy'];
  static override args = { agent: required('Your agent') };
  static override flags = {
    wakes: stringFlag('N/DURATION,…', 'Most wakes in these times', { exclusive: ['off'] }),
    cost: stringFlag('USD/DURATION', 'Most US dollars in this time, or off'),
    off: booleanFlag('As often as they like'),
  };

  override async run(): Promise<void> {
    const { wakes, cost, off } = this.flags;
    const body = {
      ...(off ? { wakes: 'off' as const } : wakes === undefined ? {} : { wakes: wakesOf(wakes) }),
      ...(cost === undefined ? {} : { cost: cost === 'off' ? null : costOf(cost) }),
    };
    const member = agentNamed(this.args.agent, this.globals);
    const { client, board } = await this.onBoard('P');
    if (Object.keys(body).length === 0) {
      const { data: agent } = await client.call('getMember', { params: { board, member } });
      // A server without budgets tells none of the caller's own agents either.
      if (!agent.budget) await requireFeature(client, 'brakes');
      const record = budgetOf(agent);
      return this.print<typeof json>(record, () => budgetText(record));
    }
    const { data, again } = await this.write(client, 'setAgentBudget', { params: { board, member }, body });
    this.print<typeof json>(data, () => `${budgetText(data)}${again}`);
  }
}
