/** What of tasks an agent's inbox reminds it of. */
import type { Knex } from 'knex';
import { statement } from '../db/statement.ts';
import type { ReadTx } from '../db/tx.ts';

const oldestStatement = statement<{ board_id: string }, { id: string; ref: string; title: string }>((db, p) =>
  db('tasks').where({ board_id: p.board_id, state: 'open' }).orderBy('number').limit(1).select('id', 'ref', 'title'),
);

/** The open task of a board with the lowest number. */
export const oldestOpenTask = (
  tx: ReadTx,
  boardId: string,
): Promise<{ id: string; ref: string; title: string } | undefined> => tx.first(oldestStatement, { board_id: boardId });

/** Of so many latest own messages it is asked whether they are about a task. */
const LATEST = 100;

/** Pings and replies of all pairings on a member's board. They prove that messages arrive, and say nothing. */
const ofPairing = (db: Knex, memberId: string): Knex.QueryBuilder =>
  db({ k: 'pairing_marks' })
    .join({ r: 'pairing_requests' }, 'r.id', 'k.request_id')
    .where('r.board_id', db('members').where('id', memberId).select('board_id'))
    .select('k.seq');

const latestStatement = statement<{ id: string }, { task_id: string | null }>((db, p) =>
  db({ m: 'messages' })
    .leftJoin({ x: 'message_tasks' }, (on) => on.on('x.message_id', 'm.id').andOn('x.n', db.raw('0') as never))
    .where('m.sender_id', p.id)
    .whereNotIn('m.seq', ofPairing(db, p.id))
    .orderBy('m.seq', 'desc')
    .limit(LATEST)
    .select('x.task_id'),
);

/** How many of a member's latest messages in a row are about no task, at most 100; those of a pairing are left out. */
export const postsWithoutTask = async (tx: ReadTx, memberId: string): Promise<number> => {
  const latest = await tx.all(latestStatement, { id: memberId });
  const about = latest.findIndex((message) => message.task_id !== null);
  return about === -1 ? latest.length : about;
};
