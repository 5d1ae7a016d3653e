import { optionalChoice, WriteCommand } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { requireOutside } from '../../cli/session/here.ts';
import { answer, whole } from '../../cli/shapes.ts';
import type { Answer, MidturnPolicy } from '../../contract/types.ts';
import { usage } from '../../local/failure.ts';
import { readCredentials } from '../../local/keys/credentials.ts';
import { agentMeant } from './lib/own-agent.ts';

export const json = () => whole(answer('getMidturnPolicy'));

export default class AgentMidturn extends WriteCommand<typeof AgentMidturn> {
  static override summary = 'Show or set whose messages reach agents in the middle of a turn';
  static override description =
    'For all your agents, or with --as for one of them: owner-only lets through what you write, my-agents also urgent\nmessages of your other agents. default ends the exception of one agent. Only a person sets it.';
  static override examples = [
    'service agent midturn',
    'service agent midturn owner-only',
    'service agent midturn my-agents --as codex',
    'service agent midturn default --as codex',
  ];
  static override seeAlso = ['agent create', 'board members'];
  static override args = { policy: optionalChoice('What holds from now on', ['owner-only', 'my-agents', 'default']) };

  override async run(): Promise<void> {
    const { policy } = this.args;
    if (policy === undefined) return this.show();
    const { as } = this.globals;
    // The person acts, on the server of the agent.
    this.globals.as = undefined;
    if (policy === 'default' && as === undefined) {
      requireOutside(`${this.line()} --as AGENT`);
      throw usage(
        'default is for one agent, which then follows what holds for all of yours.',
        'Name it with --as AGENT',
      );
    }
    if (as !== undefined) requireOutside(this.line());
    const seat = as === undefined ? null : agentMeant(as, this.globals);
    const client = await this.client('P');
    const { data, again } = await this.write(client, 'setMidturnPolicy', {
      // null takes the exception of the agent back.
      body: { policy: policy === 'default' ? null : policy, ...(seat ? { member_id: seat.memberId } : {}) },
    });
    const name = seat ? `${seat.saved.name} on ${seat.saved.board}` : null;
    this.print<typeof json>(data, () => `${midturnText(data, name)}${again}`);
  }

  private async show(): Promise<void> {
    const { client, agent } = await this.session('A');
    const { data } = await client.call('getMidturnPolicy');
    this.print<typeof json>(data, () => midturnText(data, agent ? (this.out.base.actor?.name ?? 'The agent') : null));
  }
}

const rules: Record<MidturnPolicy, string> = {
  'owner-only': 'in the middle of a turn only what their person writes reaches them',
  'my-agents': "in the middle of a turn urgent messages of their person's other agents reach them too",
};

/** @param agent whose it is; null: all agents of the person. */
function midturnText(answer: Answer<'getMidturnPolicy'>, agent: string | null): string {
  const { policy, source, changed, overrides = [] } = answer;
  const whose = agent ?? 'Your agents';
  const how = agent === null ? '' : source === 'agent_override' ? ', an exception' : ', as for all of its person';
  const news = changed === undefined ? '' : changed ? ' now' : ', as before';
  const exceptions = agent === null ? overrides.map((one) => `Except ${nameOf(one.member_id)}: ${one.policy}`) : [];
  return [`${whose}: ${policy}${news}${how} (${rules[policy]})`, ...exceptions].join('\n');
}

/** What this machine calls an agent; its id where the agent lives elsewhere. */
function nameOf(memberId: string): string {
  for (const { seats } of Object.values(readCredentials(runtime().folders).servers)) {
    const seat = seats[memberId];
    if (seat) return `${seat.name} on ${seat.board}`;
  }
  return memberId;
}
