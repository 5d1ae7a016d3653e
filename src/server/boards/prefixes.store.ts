/** Task prefixes: whose each was first, for good, so that a reference names one task of the server. */
import { rowBy } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

const byPrefix = rowBy<{ prefix: string; board_id: string }>('task_prefixes', 'prefix');

/** The board that uses or ever used a prefix. */
export const prefixHolder = async (tx: ReadTx, prefix: string): Promise<string | undefined> =>
  (await byPrefix(tx, prefix))?.board_id;

/** Gives a free prefix to a board; a unique index decides between two boards at once. */
export const reservePrefix = (tx: WriteTx, prefix: string, boardId: string): Promise<number> =>
  tx.change((db) => db('task_prefixes').insert({ prefix, board_id: boardId, reserved_at: tx.now }));

/** Every prefix these boards ever used, oldest first. */
export const prefixesOf = (tx: ReadTx, boardIds: string[]): Promise<{ board_id: string; prefix: string }[]> =>
  tx.query((db) =>
    db('task_prefixes').whereIn('board_id', boardIds).orderBy(['reserved_at', 'prefix']).select('board_id', 'prefix'),
  );
