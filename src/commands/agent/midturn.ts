import { choice, WriteCommand } from '../../cli/base.ts';
import { answer, whole } from '../../cli/shapes.ts';
import { agentMeant, midturnOptions, midturnText } from './lib/midturn.ts';

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
  static override args = { policy: choice('What holds from now on', ['owner-only', 'my-agents', 'default'], false) };

  override async run(): Promise<void> {
    const { policy } = this.args;
    if (policy === undefined) return this.show();
    const { as, board } = this.globals;
    const options = midturnOptions(policy, as);
    const seat = as === undefined ? null : agentMeant(as, board);
    if (seat) {
      // The person acts, on the server of the agent.
      this.globals.as = undefined;
      this.globals.server ??= seat.entry.mode === 'local' ? 'local' : seat.origin;
    }
    const client = await this.client('P');
    const { data, again } = await this.write(client, 'setMidturnPolicy', {
      body: { policy: options, ...(seat ? { member_id: seat.memberId } : {}) },
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
