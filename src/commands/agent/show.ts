import { BaseCommand, optional } from '../../cli/base.ts';
import { member, object } from '../../cli/shapes.ts';
import { memberText } from '../board/lib/member-text.ts';
import { ownName } from './lib/own-agent.ts';

export const json = () => object({ agent: member });

export default class AgentShow extends BaseCommand<typeof AgentShow> {
  static override readOnly = true;
  static override summary = 'Show one agent of a board';
  static override description =
    'By name or id, ended ones too. An agent that names nobody is shown itself. Where it runs is told to its person only.';
  static override examples = ['service agent show codex', 'service agent show codex --board payments --json'];
  static override seeAlso = ['agents', 'board agents', 'agent delivery'];
  static override args = { name: optional('Name or id; default: the agent that asks') };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const { client, board } = session;
    const member = this.args.name?.replace(/^@/, '') ?? (await ownName(session));
    const { data: agent } = await client.call('getMember', { params: { board, member } });
    this.print<typeof json>({ agent }, () => memberText(agent, this.times));
  }
}
