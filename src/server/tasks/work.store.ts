/** What of tasks and asks an agent's inbox reminds it of. */
import type { Knex } from 'knex';
import { listStatement, statement, type Value } from '../db/statement.ts';
import type { ReadTx } from '../db/tx.ts';

const oldestStatement = statement<{ board_id: string }, { id: string; ref: string; title: string }>((db, p) =>
  db('tasks').where({ board_id: p.board_id, state: 'open' }).orderBy('number').limit(1).select('id', 'ref', 'title'),
);

/** The open task of a board with the lowest number. */
export const oldestOpenTask = (
  tx: ReadTx,
  boardId: string,
): Promise<{ id: string; ref: string; title: string } | undefined> => tx.first(oldestStatement, { board_id: boardId });

interface AskCount {
  member_id: string;
  own: number;
  received: number;
}

const openAsks = (db: Knex, side: 'from_id' | 'to_id', memberIds: Value[], now: Value) =>
  db('asks')
    .whereIn(side, memberIds as string[])
    .whereNull('answer_seq')
    .where((open) => open.whereNull('going_at').orWhere('going_at', '>', now as number))
    .groupBy(side)
    .select({
      member_id: side,
      own: db.raw(side === 'from_id' ? 'COUNT(*)' : '0'),
      received: db.raw(side === 'to_id' ? 'COUNT(*)' : '0'),
    });

const asksStatement = listStatement<{ now: number }, AskCount>((db, p, memberIds) =>
  db.unionAll([openAsks(db, 'from_id', memberIds, p.now), openAsks(db, 'to_id', memberIds, p.now)]),
);

/** For each of these members how many open asks are its own, and how many are addressed to it. */
export async function countOpenAsks(tx: ReadTx, memberIds: readonly string[]) {
  const counts = new Map(memberIds.map((id) => [id, { own: 0, received: 0 }]));
  for (const row of await tx.all(...asksStatement.over({ now: tx.now }, memberIds))) {
    const count = counts.get(row.member_id);
    if (!count) continue;
    count.own += Number(row.own);
    count.received += Number(row.received);
  }
  return counts;
}

/** Of so many latest own messages it is asked whether they are about a task. */
const LATEST = 100;

const latestStatement = statement<{ id: string }, { task_id: string | null }>((db, p) =>
  db({ m: 'messages' })
    .leftJoin({ x: 'message_tasks' }, (on) => on.on('x.message_id', 'm.id').andOn('x.n', db.raw('0') as never))
    .where('m.sender_id', p.id)
    .orderBy('m.seq', 'desc')
    .limit(LATEST)
    .select('x.task_id'),
);

/** How many of a member's latest messages in a row are about no task, at most 100. */
export const postsWithoutTask = async (tx: ReadTx, memberId: string): Promise<number> => {
  const latest = await tx.all(latestStatement, { id: memberId });
  const about = latest.findIndex((message) => message.task_id !== null);
  return about === -1 ? latest.length : about;
};
