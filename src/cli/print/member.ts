/** People and agents of a board as text. */
import { escapeUntrusted } from '../../contract/text.ts';
import type { BoardPerson, Member } from '../../contract/types.ts';
import { table } from '../table.ts';

/** People first, then agents. */
export async function memberRows(members: Member[]): Promise<string[]> {
  const people = members.filter((member) => member.kind === 'human');
  const agents = members.filter((member) => member.kind === 'agent');
  return table([...people.map(personRow), ...agents.map(agentRow)]);
}

function personRow(member: Member): string[] {
  const role = member.access === 'admin' ? 'owner' : 'person';
  return [member.name, role, member.owner ?? '', '', gone(member), escapeUntrusted(member.display_name ?? '')];
}

function agentRow(member: Member): string[] {
  const { name, role, owner, harness, presence, delivery_mode: mode } = member;
  return [
    name,
    role ?? '',
    owner ?? '',
    escapeUntrusted(harness ?? '-'),
    gone(member) || (presence ?? '-'),
    mode ?? '',
  ];
}

const gone = ({ status }: Member) => (status === 'active' ? '' : status);

/** One row per person of a board. */
export async function personRows(people: BoardPerson[]): Promise<string[]> {
  return table(people.map((p) => [p.handle, p.board_role, p.server_role, escapeUntrusted(p.display_name ?? '')]));
}
