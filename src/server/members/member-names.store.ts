/** Names of members: the owners of a board, names that are taken, renaming. */
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow } from './member.rules.ts';

/** Names of a board's owners in the order they first came, at most `limit`. */
export const ownerNames = async (tx: ReadTx, boardId: string, limit: number): Promise<string[]> => {
  const rows = await tx.query<{ name: string }>((db) =>
    db('members')
      .where({ board_id: boardId, kind: 'human', status: 'active', access: 'admin' })
      .orderBy('id')
      .limit(limit)
      .select('name'),
  );
  return rows.map((row) => row.name);
};

/** Names of active members in the order they joined, at most `limit`. */
export const activeNames = async (
  tx: ReadTx,
  boardId: string,
  limit: number,
  kind?: 'human' | 'agent',
): Promise<string[]> => {
  const rows = await tx.query<{ name: string }>((db) =>
    db('members')
      .where({ board_id: boardId, status: 'active', ...(kind ? { kind } : {}) })
      .orderBy('id')
      .limit(limit)
      .select('name'),
  );
  return rows.map((row) => row.name);
};

/** Names that may stand in the way of `base`, `base-2` …, also where the base was cut to make room for the number. */
export const memberNames = async (tx: ReadTx, boardId: string, base: string): Promise<Set<string>> => {
  const rows = await tx.query<{ name: string }>((db) =>
    db('members')
      .where('board_id', boardId)
      .where('name', 'like', `${base.slice(0, 32)}%`)
      .select('name'),
  );
  return new Set(rows.map((row) => row.name));
};

/** Whether somebody else, a person or an agent, has or had this name on one of these boards. */
export const isNameOfOther = async (
  tx: ReadTx,
  boardIds: string[],
  name: string,
  personId: string,
): Promise<boolean> => {
  const rows = await tx.query<MemberRow>((db) => db('members').whereIn('board_id', boardIds).where('name', name));
  return rows.some((row) => row.kind === 'agent' || row.person_id !== personId);
};

export const renameMember = (tx: WriteTx, id: string, name: string): Promise<number> =>
  tx.change((db) => db('members').where('id', id).update({ name }));
