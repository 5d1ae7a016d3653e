/** Formats the people and agents of a board. */
import { listText } from '../../../cli/list.ts';
import { fields } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import { costWords, countWords, usageWords, waitingWords } from '../../../contract/agent-text.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { BoardPerson, Member } from '../../../contract/types.ts';
import { lineText } from '../../task/lib/task-text.ts';

/** People first, then agents. */
export async function memberRows(members: Member[]): Promise<string[]> {
  const people = members.filter((member) => member.kind === 'human');
  const agents = members.filter((member) => member.kind === 'agent');
  const heads = ['NAME', 'ROLE', 'OWNER', 'PROGRAM', 'STATE', 'DELIVERY', 'TASK', 'ON NOW'];
  return table(heads, [...people.map(personRow), ...agents.map(agentRow)]);
}

function personRow(member: Member): string[] {
  const role = member.access === 'admin' ? 'owner' : 'person';
  const called = escapeUntrusted(member.display_name ?? '');
  return [called ? `${member.name} (${called})` : member.name, role, '', '', gone(member), '', '', ''];
}

function agentRow(member: Member): string[] {
  const { name, role, owner, harness, state, line, current_task: task, delivery_mode: mode } = member;
  return [
    name,
    role ?? '',
    owner ?? '',
    escapeUntrusted(harness ?? ''),
    gone(member) || (state ?? ''),
    mode ?? '',
    task?.ref ?? '',
    escapeUntrusted(line?.text ?? ''),
  ];
}

const gone = ({ status }: Member) => (status === 'active' ? '' : status);

/** One row per person of a board. */
export async function personRows(people: BoardPerson[]): Promise<string[]> {
  return table(
    ['HANDLE', 'ON THE BOARD', 'ON THE SERVER', 'CALLED'],
    people.map((p) => [p.handle, p.board_role, p.server_role, escapeUntrusted(p.display_name ?? '')]),
  );
}

const NO_AGENT = 'Put one onto a board: service agent create NAME --board BOARD';

/** The agents of a person on one server, each with its board and where it was last. */
export async function ownAgentsText(
  agents: Member[],
  { url, at, times }: { url: string; at: string; times: TimeStyle },
): Promise<string> {
  const rows = await table(
    ['NAME', 'BOARD', 'ROLE', 'PROGRAM', 'STATE', 'DELIVERY', 'LAST SEEN'],
    agents.map((agent) => [
      agent.name,
      agent.board,
      agent.role ?? '',
      escapeUntrusted(agent.harness ?? ''),
      agent.state ?? '',
      agent.delivery_mode ?? '',
      agent.location ? `${whereText(agent.location)} ${showTime(agent.location.last_active, times)}` : '',
    ]),
  );
  return listText(`${url} · ${agents.length}`, rows, { empty: NO_AGENT + at });
}

const whereText = ({ machine, folder }: NonNullable<Member['location']>): string =>
  escapeUntrusted(machine === undefined ? folder : `${machine}:${folder}`);

/** Everything about one member. */
export function memberText(member: Member, times: TimeStyle): string {
  const { location } = member;
  const rows: [string, string | null][] = [
    ['name', member.name],
    ['id', member.id],
    ['board', member.board],
    ['role', member.role ?? (member.access === 'admin' ? 'owner' : 'person')],
    ['owner', member.owner],
    ['harness', member.harness],
    ['status', member.status],
    ['ended', member.removed_at ? `${showTime(member.removed_at, times)} by ${member.removed_by ?? 'somebody'}` : null],
    ['joined', showTime(member.joined_at, times)],
    ['state', member.state],
    ['line', member.line ? lineText(member.line, times) : null],
    ['task', member.current_task ? `${member.current_task.ref}: ${member.current_task.title}` : null],
    ['presence', presenceText(member, times)],
    ['delivery', member.delivery_mode],
    ['applied', member.delivery],
    ['waits for', member.waiting ? escapeUntrusted(waitingWords(member.waiting)) : null],
    ['used today', member.usage ? usageWords(member.usage) : null],
    ['location', location ? whereText(location) : null],
    ['session', location ? `${location.harness}, ${location.session_id}` : null],
    ['last active', location ? showTime(location.last_active, times) : null],
  ];
  return fields(rows).join('\n');
}

/** What a person's agents on one server used today. */
export async function usageTableText(agents: Member[], url: string, at: string): Promise<string> {
  const rows = await table(
    ['NAME', 'BOARD', 'PROGRAM', 'TURNS', 'TOKENS IN', 'TOKENS OUT', 'COST'],
    agents.map(({ name, board, harness, usage }) => [
      name,
      board,
      escapeUntrusted(harness ?? ''),
      ...[usage?.turns, usage?.input_tokens, usage?.output_tokens].map(countWords),
      costWords(usage?.cost_usd),
    ]),
  );
  return listText(`${url} · used today`, rows, { empty: NO_AGENT + at });
}

function presenceText({ presence, presence_since: since }: Member, times: TimeStyle): string | null {
  if (presence === null) return null;
  return since === null ? presence : `${presence} since ${showTime(since, times)}`;
}
