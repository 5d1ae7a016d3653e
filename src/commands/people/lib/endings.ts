/** Formats removals of agents and people. */
import { called } from '../../../cli/runtime.ts';
import { plural } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { Answer, PersonRemoval, PrunedAgent } from '../../../contract/types.ts';

/** An admin is told no names of a private board they are not on. */
export function seatEnded(ended: Answer<'removeMember'>): string {
  // Seen only where an admin named a person by the ids of both.
  if ('member_id' in ended) return `${ended.handle} is off ${ended.board}.`;
  return `${ended.name ?? ended.id} is off ${ended.board ?? ended.board_id} for good; what it wrote stays.`;
}

type Pruning = Answer<'pruneAgents'>;

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

const counts = ({ keys_revoked, browser_sessions_ended, agents_removed }: PersonRemoval): string =>
  [
    plural(keys_revoked, 'key', 'keys'),
    plural(browser_sessions_ended, 'browser session', 'browser sessions'),
    plural(agents_removed, 'agent', 'agents'),
  ].join(', ');

const boards = (n: number): string => plural(n, 'board', 'boards');

/** What a removal would do, a sentence each. */
export function removalFacts(removal: PersonRemoval, url: string): string[] {
  const { person, boards_left, owners_passed, unreachable_boards } = removal;
  return [
    `Removing ${person.handle} from ${url} stops ${counts(removal)}; they leave ${boards(boards_left)}.`,
    ...(owners_passed > 0 ? [`${boards(owners_passed)} would get another owner.`] : []),
    ...unreachable_boards.map((id) => `Nobody could read ${id} again.`),
  ];
}

export function removalText(removal: PersonRemoval, url: string): string {
  const { person, boards_left, owners_passed, unreachable_boards } = removal;
  return [
    `Removed ${person.handle} from ${url}: ${counts(removal)} stopped; left ${boards(boards_left)}.`,
    ...(owners_passed > 0 ? [`${boards(owners_passed)} got another owner.`] : []),
    ...unreachable_boards.map((id) =>
      called(`Nobody is left on ${id}; an admin can end it: service board archive --board ${id}`),
    ),
  ].join('\n');
}
