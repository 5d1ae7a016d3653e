/** The list of boards, with unread counts. */
import { signal } from '@preact/signals';
import { ClientError } from '../../client/errors.ts';
import type { Board } from '../../contract/types.ts';
import { call, listAll, readAll, readSession } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';
import { session } from '../api/session.ts';
import { listenToHints, listenToReturn } from '../live/link.ts';
import { write } from './attempts.ts';
import { oneAtATime } from './throttle.ts';

/** The person's boards and open ones they could join, in the API's order; null until loaded. */
export const boards = signal<Board[] | null>(null);
/** Archived boards; null until {@link readArchived}. */
export const archived = signal<Board[] | null>(null);
export const archivedCount = signal(0);
export const boardsError = signal<unknown>(null);

/** The number of each board's latest event, by board name, from the hint stream. */
export const heads = signal<ReadonlyMap<string, number>>(new Map());

/** What hints told last of the unread messages of boards, by name: it may be newer than an answer that comes after it. */
const hinted = new Map<string, Pick<Board, 'unread' | 'read_up_to'>>();

const ACTIVITY_DAYS = 14;
export const readBoards = oneAtATime(async () => {
  hinted.clear();
  try {
    const all: Board[] = [];
    let count = 0;
    for await (const page of listAll('listBoards', { query: { all: true, activity: ACTIVITY_DAYS } })) {
      all.push(...page.boards);
      count = page.archived_count;
    }
    boards.value = all.map((board) => ({ ...board, ...hinted.get(board.name) }));
    archivedCount.value = count;
    boardsError.value = null;
  } catch (error) {
    boardsError.value = error;
  }
});

export async function readArchived(): Promise<void> {
  archived.value = await readAll('listBoards', 'boards', { query: { all: true, lifecycle: 'archived' } });
}

/** Joins an open board. */
export async function joinBoard(board: string): Promise<void> {
  // The person may have another handle than when the page was opened.
  await readSession();
  const handle = session.peek()?.person.handle ?? '';
  try {
    await write('addBoardPerson', { params: { board }, body: { handle } });
  } catch (error) {
    // It was joined in another window.
    if (!hasCode(error, 'already_on_board')) throw error;
  }
}

/** Read positions that the server has not confirmed, by board name. They are sent again with the next connection. */
const unconfirmed = new Map<string, number>();

/** Moves the person's read position on a board. API errors are ignored: a later call makes up for it. */
export async function acknowledge(board: string, upTo: number): Promise<void> {
  const position = Math.max(upTo, unconfirmed.get(board) ?? 0);
  unconfirmed.set(board, position);
  const hint = hinted.get(board);
  try {
    const { read_up_to, unread } = await call('ackBoard', {
      params: { board },
      body: { up_to: position },
      // The page may be about to be left.
      keepalive: true,
    });
    if (unconfirmed.get(board) === position) unconfirmed.delete(board);
    if (hinted.get(board) === hint) updateBoard(board, { read_up_to, unread });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.delivery === 'answered' && !error.transient) unconfirmed.delete(board);
  }
}

/** The loaded board with this name. */
export const findBoard = (name: string): Board | undefined =>
  boards.value?.find((board) => board.name === name) ?? archived.value?.find((board) => board.name === name);

function updateBoard(name: string, parts: Partial<Board>): void {
  const list = boards.peek();
  if (!list) return;
  boards.value = list.map((board) => (board.name === name ? { ...board, ...parts } : board));
}

listenToHints((frame) => {
  if (frame.event === 'unread') {
    const { board, unread, read_up_to } = frame.data;
    hinted.set(board, { unread, read_up_to });
    updateBoard(board, { unread, read_up_to });
  }
  if (frame.event === 'head') {
    const before = heads.peek().get(frame.data.board);
    if (before === frame.data.seq) return;
    heads.value = new Map(heads.peek()).set(frame.data.board, frame.data.seq);
  }
  if (frame.event === 'boards' || frame.event === 'board_unavailable') void readBoards();
});

listenToReturn(() => {
  if (!session.peek()) return;
  void readBoards();
  for (const [board, upTo] of unconfirmed) void acknowledge(board, upTo);
});

session.subscribe((current) => {
  if (!current) {
    boards.value = null;
    archived.value = null;
    heads.value = new Map();
  } else void readBoards();
});
