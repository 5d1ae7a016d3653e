/**
 * Results of verifying boards' records: the board that a name stood for, so that a different one is noticed, and the last
 * verified event, so that a later rewrite of verified events is noticed too.
 */
import type { ChainPoint } from '../contract/chain.ts';
import type { Folders } from './folders.ts';
import { isRecord, noteFile } from './private-file.ts';

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

const heads = noteFile<Record<string, ChainPoint>>('audit-heads.json', {}, isRecord);
const boards = noteFile<Record<string, BoardRef>>('audit-boards.json', {}, isRecord);

/** What was pinned for a board of a server, if anything. */
export const pinnedHead = (folders: Folders, { server_id, board_id }: BoardRef): ChainPoint | null =>
  heads.readStrictly(folders)[`${server_id}|${board_id}`] ?? null;

/** The board that was checked under a name, if any was. */
export const pinnedBoard = (folders: Folders, { origin, board }: BoardPlace): BoardRef | null =>
  boards.readStrictly(folders)[`${origin} ${board}`] ?? null;

/**
 * Pins a verified head, and the board that has it to its name. An end that another check found meanwhile, and that is
 * further, stays.
 * @param aside the end that no longer counts, as a person said
 */
export async function pin(
  folders: Folders,
  { origin, board }: BoardPlace,
  ref: BoardRef,
  head: ChainPoint,
  aside: ChainPoint | null = null,
): Promise<void> {
  const { server_id, board_id } = ref;
  const { seq, hash } = head;
  const key = `${server_id}|${board_id}`;
  await heads.change(folders, (all) => {
    const kept = all[key];
    return kept && kept.seq > seq && kept.hash !== aside?.hash ? all : { ...all, [key]: { seq, hash } };
  });
  await boards.change(folders, (all) => ({ ...all, [`${origin} ${board}`]: { server_id, board_id } }));
}
