import * as Flags from '@oclif/core/flags';
import { booleanFlag, confirmFlags, WriteCommand } from '../../cli/base.ts';
import { answer, whole } from '../../cli/shapes.ts';
import { plural } from '../../cli/terminal/fields.ts';
import { table } from '../../cli/terminal/table.ts';
import { duration, showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import type { Answer, PrunedAgent } from '../../contract/types.ts';
import { usage } from '../../local/failure.ts';
import { forgetSeats } from '../board/lib/leaving.ts';

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
    const { client, server } = await this.session('P');
    const { all, yes, 'dry-run': dry, 'disconnected-for': span } = this.flags;
    const body = { disconnected_for: atLeastAnHour(span), all };
    const found = (await client.call('pruneAgents', { body: { ...body, dry_run: true } })).data;
    const rows = await prunedRows(found, span, this.times);
    if (dry || found.agents.length === 0) return this.print<typeof json>(found, () => rows.join('\n'));
    if (!yes) this.out.note(rows.join('\n'));
    await this.confirm(`Remove ${plural(found.agents.length, 'agent', 'agents')} for good?`, yes);
    const agents = found.agents.map((agent) => agent.id);
    const { data, again } = await this.write(client, 'pruneAgents', { body: { ...body, agents } });
    await forgetSeats(server.url, data.agents);
    this.print<typeof json>(data, () => `${pruned(data, found)}${again}`);
    if (found.more) this.out.note('There are more: run it again.');
  }
}

function atLeastAnHour(span: string): number {
  const seconds = duration(span, '--disconnected-for');
  if (seconds >= 3600) return seconds;
  throw usage('--disconnected-for takes an hour or more: an agent may pause for a while.');
}

/** What qualifies, longest without a session first. */
export async function prunedRows({ agents, more }: Pruning, span: string, times: TimeStyle): Promise<string[]> {
  if (agents.length === 0) return [`No agent has been without a session for ${span}.`];
  const rows = await table(
    ['NAME', 'BOARD', 'OWNER', 'NO SESSION SINCE'],
    agents.map((agent) => [
      agent.name ?? agent.id,
      agent.board ?? agent.board_id,
      agent.owner,
      showTime(agent.disconnected_since, times),
    ]),
  );
  const header = `${plural(agents.length, 'agent', 'agents')} without a session for ${span}`;
  return [header, ...rows, ...(more ? ['…and more: these go first.'] : [])];
}

const named = (agent: PrunedAgent): string => `${agent.name ?? agent.id} on ${agent.board ?? agent.board_id}`;

/** @param asked what the first look found. */
export function pruned({ agents, kept }: Pruning, asked: Pruning): string {
  const names = new Map(asked.agents.map((agent) => [agent.id, agent.name ?? agent.id]));
  return [
    agents.length > 0
      ? `Removed ${plural(agents.length, 'agent', 'agents')}: ${agents.map(named).join(', ')}`
      : 'Removed no agent.',
    ...kept.map((id) => `Kept ${names.get(id) ?? id}: it came back meanwhile.`),
  ].join('\n');
}

type Pruning = Answer<'pruneAgents'>;
