/** How many people and agents a board has. */
import { countRows, firstRow } from '../db/query.ts';
import { rowsOver } from '../db/rows.ts';
import type { ReadTx } from '../db/tx.ts';
import type { MemberRow } from './member.rules.ts';

interface MemberCounts {
  board_id: string;
  people: number;
  agents: number;
}

/** How many active people and agents boards have. */
export const countMembers = rowsOver<MemberCounts>((db, boardIds) =>
  db('members')
    .whereIn('board_id', boardIds)
    .where('status', 'active')
    .groupBy('board_id')
    .select('board_id', {
      people: db.raw("SUM(CASE WHEN kind = 'human' THEN 1 ELSE 0 END)"),
      agents: db.raw("SUM(CASE WHEN kind = 'agent' THEN 1 ELSE 0 END)"),
    }),
);

/** How many active agents, and of how many different people; and how many of one person. */
export const agentTotals = async (tx: ReadTx, boardId: string, personId: string) => {
  const [row] = await tx.query<{ agents: number; people: number; own: number }>((db) =>
    db('members')
      .where({ board_id: boardId, kind: 'agent', status: 'active' })
      .select({
        agents: db.raw('COUNT(*)'),
        people: db.raw('COUNT(DISTINCT person_id)'),
        own: db.raw('SUM(CASE WHEN person_id = ? THEN 1 ELSE 0 END)', [personId]),
      }),
  );
  return { agents: Number(row?.agents ?? 0), people: Number(row?.people ?? 0), own: Number(row?.own ?? 0) };
};

/** Whether an agent of the person is or was on the board. */
export const hadAgent = async (tx: ReadTx, boardId: string, personId: string): Promise<boolean> =>
  (await firstRow(tx, (db) =>
    db('members').where({ person_id: personId, kind: 'agent', board_id: boardId }).limit(1).select('id'),
  )) !== undefined;

const countActive = (tx: ReadTx, boardId: string, more: Partial<MemberRow>): Promise<number> =>
  countRows(tx, (db) => db('members').where({ board_id: boardId, kind: 'human', status: 'active', ...more }));

export const countPeople = (tx: ReadTx, boardId: string): Promise<number> => countActive(tx, boardId, {});

export const countOwners = (tx: ReadTx, boardId: string): Promise<number> =>
  countActive(tx, boardId, { access: 'admin' });
