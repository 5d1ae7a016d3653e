/** What waits for a person: unread boards and replies they owe. Looking at it acknowledges nothing. */
import type { BoardListRecord } from './board-list.ts';
import { readBoards } from './board-list.ts';
import { called } from './runtime.ts';
import type { Session } from './session.ts';

export interface PersonInbox {
  boards: { name: string; unread: number; needs_reply: number }[];
  asks: [];
  approvals: [];
  board_adds: { board: string; by: string | null; at: string }[];
  arrivals: [];
}

export async function readPersonInbox(session: Session): Promise<PersonInbox> {
  const { boards } = await readBoards(session, { all: false, archived: false });
  return {
    boards: boards
      .map(({ name, unread = 0, needs_reply }) => ({ name, unread, needs_reply: needs_reply ?? 0 }))
      .filter((board) => board.unread > 0 || board.needs_reply > 0),
    asks: [],
    approvals: [],
    board_adds: addsOf(boards),
    arrivals: [],
  };
}

const addsOf = (boards: BoardListRecord['boards']): PersonInbox['board_adds'] =>
  boards.flatMap(({ name, added }) => (added ? [{ board: name, by: added.by.name, at: added.at }] : []));

export function personInboxText({ boards, board_adds: adds }: PersonInbox): string {
  const needing = boards.filter((board) => board.needs_reply > 0);
  const unread = boards.filter((board) => board.unread > 0);
  const lines = [
    ...(needing.length > 0 ? ['Needs you', ...needing.map((b) => `  ${b.name}  ${b.needs_reply} to answer`)] : []),
    ...(unread.length > 0 ? ['Unread', ...unread.map((b) => `  ${b.name}  ${b.unread} unread`)] : []),
    ...adds.map(({ board, by }) => `You were added to ${board}${by ? ` by @${by}` : ''}.`),
  ];
  const first = (needing[0] ?? unread[0])?.name;
  if (first === undefined) return lines.join('\n') || 'Nothing is waiting for you.';
  return called([...lines, `Next: service read --unread --board ${first}`].join('\n'));
}
