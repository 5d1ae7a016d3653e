/** Task prefixes: whose each was first, for good, so that a reference names one task of the server. */
import type { ReadTx, WriteTx } from '../db/tx.ts';

/** The board that uses or ever used a prefix. */
export const prefixHolder = async (tx: ReadTx, prefix: string): Promise<string | undefined> => {
  const [row] = await tx.query<{ board_id: string }>((db) =>
    db('task_prefixes').where('prefix', prefix).select('board_id'),
  );
  return row?.board_id;
};

/** Gives a free prefix to a board; a unique index decides between two boards at once. */
export const reservePrefix = (tx: WriteTx, prefix: string, boardId: string): Promise<number> =>
  tx.change((db) => db('task_prefixes').insert({ prefix, board_id: boardId, reserved_at: tx.now }));

/** Every prefix these boards ever used, oldest first. */
export const prefixesOf = (tx: ReadTx, boardIds: string[]): Promise<{ board_id: string; prefix: string }[]> =>
  tx.query((db) =>
    db('task_prefixes').whereIn('board_id', boardIds).orderBy(['reserved_at', 'prefix']).select('board_id', 'prefix'),
  );
