import * as Flags from '@oclif/core/flags';
import { booleanFlag, confirmFlags, WriteCommand } from '../../cli/base.ts';
import { answer, whole } from '../../cli/shapes.ts';
import { plural } from '../../cli/terminal/fields.ts';
import { duration } from '../../cli/terminal/time.ts';
import { usage } from '../../local/failure.ts';
import { forgetSeats } from '../board/lib/leaving.ts';
import { pruned, prunedRows } from '../people/lib/endings.ts';

export const json = () => whole(answer('pruneAgents'));

export default class AgentPrune extends WriteCommand<typeof AgentPrune> {
  static override summary = 'Remove agents that no session has been connected to for long';
  static override description =
    'Lists your agents that nobody has been behind for 7 days, asks, and removes them for good. Agents that never had a\nsession are left alone. A server admin may cover the agents of everybody.';
  static override examples = [
    'service agent prune --dry-run',
    'service agent prune --disconnected-for 30d --yes',
    'service agent prune --all --disconnected-for 90d',
  ];
  static override seeAlso = ['agent remove', 'board members'];
  static override flags = {
    'disconnected-for': Flags.string({
      helpValue: 'DURATION',
      default: '7d',
      description: 'Without a session for at least this long, 1h or more',
    }),
    all: booleanFlag('Agents of everybody, as a server admin', { char: 'A' }),
    'dry-run': booleanFlag('List them and change nothing'),
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const { all, yes, 'dry-run': dry, 'disconnected-for': span } = this.flags;
    const body = { disconnected_for: atLeastAnHour(span), all };
    const found = (await client.call('pruneAgents', { body: { ...body, dry_run: true } })).data;
    const rows = await prunedRows(found, span, this.times);
    if (dry || found.agents.length === 0) return this.print<typeof json>(found, () => rows.join('\n'));
    if (!yes) this.out.note(rows.join('\n'));
    await this.confirm(`Remove ${plural(found.agents.length, 'agent', 'agents')} for good?`, yes);
    const agents = found.agents.map((agent) => agent.id);
    const { data, again } = await this.write(client, 'pruneAgents', { body: { ...body, agents } });
    await forgetSeats(data.agents.map((agent) => agent.id));
    this.print<typeof json>(data, () => `${pruned(data, found)}${again}`);
    if (found.more) this.out.note('There are more: run it again.');
  }
}

function atLeastAnHour(span: string): number {
  const seconds = duration(span, '--disconnected-for');
  if (seconds >= 3600) return seconds;
  throw usage('--disconnected-for takes an hour or more: an agent may pause for a while.');
}
