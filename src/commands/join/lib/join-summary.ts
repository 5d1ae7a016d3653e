/** Text for an agent that joins a board: the charters, and how messages reach it. */
import { called } from '../../../cli/runtime.ts';
import { indented } from '../../../cli/terminal/fields.ts';
import type { Board, DeliveryMode, Member } from '../../../contract/types.ts';
import { modeTexts } from '../../../contract/waking.ts';

/** How messages reach an agent. */
export const deliveryLine = (mode: DeliveryMode): string => `Delivery mode ${mode}: ${called(modeTexts[mode])}`;

export type Agreed = ReturnType<typeof agreedOf>;

/** What a new agent has to know: its board's charter, its role's, and how messages reach it. */
export const agreedOf = (board: Board, agent: Pick<Member, 'role' | 'delivery_mode'> | undefined) => ({
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
