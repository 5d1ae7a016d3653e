/** Lists of boards, people and members, with their pages followed to the end. */

import type { Client } from '../client/client.ts';
import { pages } from '../client/pages.ts';
import type { Board, BoardPerson, HiddenBoard, Member } from '../contract/types.ts';
import { saidBy } from '../local/project.ts';
import { linkedBoard } from './boards.ts';
import { boardRows } from './print/board.ts';
import { called } from './runtime.ts';
import type { Session } from './session.ts';

export interface BoardListRecord {
  boards: (Board & { linked: boolean })[];
  hidden_boards: HiddenBoard[];
  archived_count: number;
}

/** Boards of the server in use. */
export async function readBoards(
  session: Session,
  wish: { all: boolean; archived: boolean },
): Promise<BoardListRecord> {
  const { client } = session;
  const linked = linkedBoard(session, saidBy(session.project));
  const record: BoardListRecord = { boards: [], hidden_boards: [], archived_count: 0 };
  const query = { all: wish.all, lifecycle: wish.archived ? 'archived' : 'active' };
  for await (const page of pages(client, 'listBoards', { query })) {
    record.boards.push(
      ...page.boards.map((board) => ({ ...board, linked: board.name === linked || board.id === linked })),
    );
    record.hidden_boards.push(...(page.hidden_boards ?? []));
    record.archived_count = page.archived_count;
  }
  return record;
}

/** Lists of several servers as one. */
export const joinedLists = (lists: readonly BoardListRecord[]): BoardListRecord => ({
  boards: lists.flatMap(({ boards }) => boards),
  hidden_boards: lists.flatMap(({ hidden_boards }) => hidden_boards),
  archived_count: lists.reduce((sum, { archived_count }) => sum + archived_count, 0),
});

/** The list as text. */
export async function boardListText(
  { boards, archived_count: archived }: BoardListRecord,
  url: string,
): Promise<string> {
  const shown = boards.filter(({ lifecycle }) => lifecycle === 'archived').length;
  if (boards.length === 0 && archived === 0) return called(`${url} · 0\nCreate a board: service board create general`);
  const more = archived > shown ? [called(`${archived} archived: service board list --archived`)] : [];
  return [`${url} · ${boards.length}`, ...(await boardRows(boards)), ...more].join('\n');
}

/** Every person of a board. */
export async function allPeople(client: Client, board: string) {
  const people: BoardPerson[] = [];
  let visibility = 'open';
  for await (const page of pages(client, 'listBoardPeople', { params: { board } })) {
    people.push(...page.people);
    visibility = page.visibility;
  }
  return { visibility, people };
}

/** Every member of a board. */
export async function allMembers(
  client: Client,
  board: string,
  wish: { removed?: boolean; kind?: string | undefined } = {},
): Promise<Member[]> {
  const members: Member[] = [];
  const kind = wish.kind === 'person' ? 'human' : wish.kind;
  const query = { kind, ...(wish.removed ? { removed: true } : {}) };
  for await (const page of pages(client, 'listMembers', { params: { board }, query })) members.push(...page.members);
  return members;
}

/** The agents of the caller's person, wherever they are. */
export async function ownAgents(client: Client): Promise<Member[]> {
  const agents: Member[] = [];
  for await (const page of pages(client, 'listMyAgents')) agents.push(...page.agents);
  return agents;
}
