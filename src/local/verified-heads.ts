/**
 * Results of verifying boards' records: the board that a name stood for, so that a different one is noticed, and the last
 * verified event, so that a later rewrite of verified events is noticed too.
 */
import { join } from 'node:path';
import type { Folders } from './folders.ts';
import { withLock } from './lock.ts';
import { parseOwn, readPrivate, writePrivate } from './private-file.ts';

interface Head {
  seq: number;
  hash: string;
}

/** Identifies a board by ids, which no server can give to another board. */
export interface BoardRef {
  server_id: string;
  board_id: string;
}

/** How a person names it: the address of its server, or `local`, and the board's name. */
interface BoardPlace {
  origin: string;
  board: string;
}

/** What was pinned for a board of a server, if anything. */
export const pinnedHead = (folders: Folders, { server_id, board_id }: BoardRef): Head | null =>
  read<Head>(headsOf(folders))[`${server_id}|${board_id}`] ?? null;

/** The board that was checked under a name, if any was. */
export const pinnedBoard = (folders: Folders, { origin, board }: BoardPlace): BoardRef | null =>
  read<BoardRef>(boardsOf(folders))[`${origin} ${board}`] ?? null;

/** Pins a verified head, and the board that has it to its name. */
export async function pin(folders: Folders, { origin, board }: BoardPlace, ref: BoardRef, head: Head): Promise<void> {
  const { server_id, board_id } = ref;
  await note(headsOf(folders), `${server_id}|${board_id}`, { seq: head.seq, hash: head.hash });
  await note(boardsOf(folders), `${origin} ${board}`, { server_id, board_id });
}

const headsOf = (folders: Folders): string => join(folders.state, 'audit-heads.json');
const boardsOf = (folders: Folders): string => join(folders.state, 'audit-boards.json');

async function note<T>(path: string, key: string, value: T): Promise<void> {
  await withLock(`${path}.lock`, () => {
    writePrivate(path, `${JSON.stringify({ ...read<T>(path), [key]: value }, null, 2)}\n`);
  });
}

function read<T>(path: string): Record<string, T> {
  const text = readPrivate(path);
  return text === null ? {} : parseOwn(path, text, isRecord<T>);
}

const isRecord = <T>(value: unknown): value is Record<string, T> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
