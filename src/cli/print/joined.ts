/** What somebody reads who came onto a board, or brought an agent there. */

import type { JoinRecord } from '../../commands/join/lib/join.ts';
import type { Board, DeliveryMode, Member } from '../../contract/types.ts';
import { called } from '../runtime.ts';
import { indented } from './fields.ts';

const rules: Record<DeliveryMode, string> = {
  focused: 'an idle session is woken only by what concerns the agent',
  all: 'an idle session is woken by every message',
  humans: "an idle session is woken by people's messages only",
  off: 'nothing is delivered; the agent reads for itself',
};

/** How messages reach an agent, in one sentence. */
export const deliveryLine = (mode: DeliveryMode): string => `Delivery mode ${mode}: ${rules[mode]}.`;

export interface Agreed {
  charter: string;
  role_charter: string | null;
  mode: DeliveryMode | null;
}

/** What a new agent has to know: its board's charter, its role's, and how messages reach it. */
export const agreedOf = (board: Board, agent: Pick<Member, 'role' | 'delivery_mode'> | undefined): Agreed => ({
  charter: board.charter,
  role_charter: board.roles[agent?.role ?? '']?.charter ?? null,
  mode: agent?.delivery_mode ?? null,
});

export function agreedText({ charter, role_charter: role, mode }: Agreed): string[] {
  return [
    ...(mode === null ? [] : [deliveryLine(mode)]),
    ...(charter === '' ? [] : ['What is agreed on this board:', indented(charter)]),
    ...(role === null ? [] : ['Your part:', indented(role)]),
  ];
}

/** @param at the address of the server. */
export function joinedText(record: JoinRecord, at: string, again: string): string {
  const { board_record: board, agent, person, use } = record;
  const where = `${board.name} on ${at}`;
  return [
    agent ? `Joined ${where} as ${agent.name}${agent.role ? ` (${agent.role})` : ''}.${again}` : '',
    person ? `You are on ${where} now, as ${person.name}.${again}` : '',
    use
      ? use.bound_session
        ? 'This session is that agent: messages arrive here.'
        : `It acts with --as ${use.as}, until it is removed.`
      : called(`Next, a seat for an agent: service agent create NAME --board ${board.name}`),
    ...agreedText(record),
  ]
    .filter(Boolean)
    .join('\n');
}
