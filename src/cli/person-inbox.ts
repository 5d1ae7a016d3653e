/** What waits for a person: unread boards and replies they owe. Looking at it acknowledges nothing. */
import { serverInfo } from '../client/features.ts';
import { escapeUntrusted } from '../contract/text.ts';
import type { Message } from '../contract/types.ts';
import type { BoardListRecord } from './board-list.ts';
import { readBoards } from './board-list.ts';
import { called } from './runtime.ts';
import type { Session } from './session.ts';

export interface PersonInbox {
  boards: { name: string; unread: number; needs_reply: number }[];
  /** Open asks they may answer, those that block first. */
  asks: Message[];
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
    asks: await asksFor(session),
    approvals: [],
    board_adds: addsOf(boards),
    arrivals: [],
  };
}

async function asksFor({ client }: Session): Promise<Message[]> {
  const { features } = await serverInfo(client);
  if (!features.includes('asks')) return [];
  const { data } = await client.call('listAsks', { query: { can_answer: true, limit: 200 } });
  const blocking = (ask: Message) => (ask.ask?.blocking ? 0 : 1);
  return data.asks.sort((a, b) => blocking(a) - blocking(b));
}

const addsOf = (boards: BoardListRecord['boards']): PersonInbox['board_adds'] =>
  boards.flatMap(({ name, added }) => (added ? [{ board: name, by: added.by.name, at: added.at }] : []));

export function personInboxText({ boards, asks, board_adds: adds }: PersonInbox): string {
  const needing = boards.filter((board) => board.needs_reply > 0);
  const unread = boards.filter((board) => board.unread > 0);
  const lines = [
    ...(needing.length + asks.length > 0 ? ['Needs you'] : []),
    ...needing.map((b) => `  ${b.name}  ${b.needs_reply} to answer`),
    ...asks.map(askLine),
    ...(unread.length > 0 ? ['Unread', ...unread.map((b) => `  ${b.name}  ${b.unread} unread`)] : []),
    ...adds.map(({ board, by }) => `You were added to ${board}${by ? ` by @${by}` : ''}.`),
  ];
  const ask = asks[0];
  if (ask) return called([...lines, `Next: service answer ${ask.seq} --board ${ask.board}`].join('\n'));
  const first = (needing[0] ?? unread[0])?.name;
  if (first === undefined) return lines.join('\n') || 'Nothing is waiting for you.';
  return called([...lines, `Next: service read --unread --board ${first}`].join('\n'));
}

/** `general#88  @codex asks: Cap at a minute or at ten? (1 A minute, 2 Ten)` */
function askLine({ board, seq, from, body, ask }: Message): string {
  const options = (ask?.options ?? []).map((option, i) => `${i + 1} ${option}`).join(', ');
  const goes = ask?.going_with ? `, going with "${ask.going_with}"` : '';
  const question = body.split('\n', 1)[0] ?? '';
  return escapeUntrusted(`  ${board}#${seq}  @${from.name} asks${goes}: ${question}${options ? ` (${options})` : ''}`);
}
