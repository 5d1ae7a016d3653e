/** Lists boards, people and members, across all pages. */
import { listText } from '../../../cli/list.ts';
import { linkedBoard } from '../../../cli/session/board.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { table } from '../../../cli/terminal/table.ts';
import type { Client } from '../../../client/client.ts';
import { allRows, type Page, pages, wholeList } from '../../../client/pages.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { Board, HiddenBoard, Member } from '../../../contract/types.ts';
import { projectContent } from '../../../local/project.ts';

export interface BoardListRecord {
  boards: (Board & { linked: boolean })[];
  hidden_boards: HiddenBoard[];
  archived_count: number;
  /** How many boards `--all` would add that only their id tells of; in text only. */
  hidden_count?: number;
}

export interface BoardListOptions {
  all: boolean;
  archived: boolean;
  /** Whether the list is for a person to read, who is told what it leaves out. */
  text?: boolean;
}

/** Boards of the server in use. */
export async function readBoards(session: Session, options: BoardListOptions): Promise<BoardListRecord> {
  const { client } = session;
  const linked = linkedBoard(session, projectContent(session.project));
  const record: BoardListRecord = { boards: [], hidden_boards: [], archived_count: 0 };
  const lifecycle = options.archived ? 'archived' : 'active';
  const query = { all: options.all, lifecycle };
  for await (const page of pages(client, 'listBoards', { query })) {
    record.boards.push(
      ...page.boards.map((board) => ({ ...board, linked: board.name === linked || board.id === linked })),
    );
    record.hidden_boards.push(...hiddenOf(page, lifecycle));
    record.archived_count = page.archived_count;
  }
  if (options.text && !options.all && !options.archived && !session.agent)
    record.hidden_count = await countHidden(client);
  return record;
}

/** The private boards that the caller, a server admin, is not on. Not every server leaves those of the other lifecycle out. */
const hiddenOf = ({ hidden_boards = [] }: Page<'listBoards'>, lifecycle: string): HiddenBoard[] =>
  hidden_boards.filter((board) => board.lifecycle === lifecycle);

async function countHidden(client: Client): Promise<number> {
  const { data: me } = await client.call('getMe');
  if (!('server_role' in me) || me.server_role !== 'admin') return 0;
  let count = 0;
  for await (const page of pages(client, 'listBoards', { query: { all: true } }))
    count += hiddenOf(page, 'active').length;
  return count;
}

/** Lists of several servers as one. */
export const joinedLists = (lists: readonly BoardListRecord[]): BoardListRecord => ({
  boards: lists.flatMap(({ boards }) => boards),
  hidden_boards: lists.flatMap(({ hidden_boards }) => hidden_boards),
  archived_count: lists.reduce((sum, { archived_count }) => sum + archived_count, 0),
});

/** The list as text. @param at the flag that keeps a further command at its server, where one is needed */
export async function boardListText(
  record: BoardListRecord,
  { url, at, ofArchive }: { url: string; at: string; ofArchive: boolean },
): Promise<string> {
  const { boards, hidden_boards: hidden, archived_count: archived, hidden_count: unlisted = 0 } = record;
  const shown = boards.filter(({ lifecycle }) => lifecycle === 'archived').length;
  const more = [
    ...(archived > shown ? [`${archived} archived: service board list --archived${at}`] : []),
    ...(unlisted > 0 ? [`${unlisted} hidden: service board list --all${at}`] : []),
  ];
  const empty = ofArchive
    ? `None is archived. All: service board list --all${at}`
    : `Create a board: service board create general${at}. Those you may join: service board list --all${at}`;
  const rows = await boardRows(boards, hidden);
  return listText(`${url} · ${boards.length + hidden.length}`, rows, { empty, next: more.join('\n') });
}

/** Every person of a board. */
export const allPeople = (client: Client, board: string) =>
  wholeList(client, 'listBoardPeople', 'people', { params: { board } });

/** Every member of a board. */
export async function allMembers(
  client: Client,
  board: string,
  options: { removed?: boolean; kind?: string | undefined } = {},
): Promise<Member[]> {
  const kind = options.kind === 'person' ? 'human' : options.kind;
  const query = { kind, ...(options.removed ? { removed: true } : {}) };
  return allRows(client, 'listMembers', 'members', { params: { board }, query });
}

/** The agents of the caller's person, wherever they are. */
export const ownAgents = (client: Client): Promise<Member[]> => allRows(client, 'listMyAgents', 'agents');

/** One row per board; a hidden one has only its id. */
async function boardRows(boards: (Board & { linked: boolean })[], hidden: HiddenBoard[]): Promise<string[]> {
  return table(
    ['NAME', 'TITLE', 'ACCESS', 'PEOPLE', 'AGENTS', 'UNREAD', 'NEEDS YOU', 'NOTES'],
    [
      ...boards.map((board) => [
        board.name,
        escapeUntrusted(board.title ?? ''),
        board.visibility,
        String(board.people_count),
        String(board.agent_count ?? 0),
        board.unread ? String(board.unread) : '',
        board.needs_reply ? String(board.needs_reply) : '',
        notes(board).join(', '),
      ]),
      ...hidden.map(({ id, visibility, people, created_by: by, lifecycle }) => [
        id,
        '',
        visibility,
        String(people),
        '',
        '',
        '',
        [`hidden, made by @${by.handle}`, ...(lifecycle === 'archived' ? ['archived'] : [])].join(', '),
      ]),
    ],
  );
}

function notes(board: Board & { linked: boolean }): string[] {
  return [
    board.linked ? 'this folder' : '',
    board.lifecycle === 'archived' ? 'archived' : '',
    board.on_board ? '' : 'not joined',
  ].filter(Boolean);
}
