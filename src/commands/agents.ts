import { BaseCommand } from '../cli/base.ts';
import { ownAgents } from '../cli/board-list.ts';
import { listFlags } from '../cli/flags.ts';
import { ownAgentRows } from '../cli/print/member.ts';

export default class Agents extends BaseCommand<typeof Agents> {
  static override summary = 'List your agents, wherever they are';
  static override description =
    'On every board you are on, with state, delivery mode and where each was last seen. For an agent: those of its person.';
  static override examples = ['service agents', 'service agents --json'];
  static override seeAlso = ['board agents', 'agent show', 'agent create'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    const { client, server } = await this.session('A');
    const agents = await ownAgents(client);
    if (this.out.mode === 'ndjson') {
      for (const agent of agents) this.out.each(agent);
      return;
    }
    const rows = await ownAgentRows(agents, this.times);
    this.out.print({ agents }, () => [`${server.url} · ${agents.length}`, ...rows].join('\n'));
  }
}
