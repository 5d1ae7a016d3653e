/** What messages are about, and what that makes of counts. */
import type { Knex } from 'knex';
import { countRows } from '../db/query.ts';
import { rowsOver } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { type MessageReader, readable } from '../messages/readable.rules.ts';

type How = 'given' | 'thread' | 'current' | 'named';

type TagRow = {
  message_id: string;
  task_id: string;
  board_id: string;
  seq: number;
  /** The thread of the message: its root's number, or its own. */
  thread_seq: number;
  how: How;
  /** Place in the recorded list. */
  n: number;
};

export const insertTags = (tx: WriteTx, rows: TagRow[]): Promise<number> =>
  rows.length === 0 ? Promise.resolve(0) : tx.change((db) => db('message_tasks').insert(rows));

type Tag = { message_id: string; task_id: string; ref: string; how: How };

/** What these messages are about, as recorded. */
export const tagsOf = rowsOver<Tag>((db, ids) =>
  db({ x: 'message_tasks' })
    .join({ t: 'tasks' }, 't.id', 'x.task_id')
    .whereIn('x.message_id', ids)
    .orderBy('x.n')
    .select('x.message_id', 'x.task_id', 't.ref', 'x.how'),
);

export interface MessageCounts {
  task_id: string;
  messages: number;
  threads: number;
  /** After the event that last wrote where the task stands. */
  since: number | null;
}

/** Tags `x` of messages that this reader may read; the messages themselves are looked at only where that differs. */
function readableTags(db: Knex, reader: MessageReader): Knex.QueryBuilder {
  const tags = db({ x: 'message_tasks' });
  return reader.readsAll ? tags : readable(tags.join({ m: 'messages' }, 'm.id', 'x.message_id'), reader);
}

/** How much is said about these tasks that this reader may read. */
export const messageCountsOf = (tx: ReadTx, taskIds: string[], reader: MessageReader): Promise<MessageCounts[]> =>
  tx.query((db) =>
    readableTags(db, reader)
      .join({ t: 'tasks' }, 't.id', 'x.task_id')
      .leftJoin({ s: 'task_texts' }, (on) =>
        on
          .on('s.task_id', 't.id')
          .andOn('s.version', 't.stands_version')
          .andOn(db.raw("s.field = 'stands'") as never),
      )
      .whereIn('x.task_id', taskIds)
      .groupBy('x.task_id')
      .select({
        task_id: 'x.task_id',
        messages: db.raw('COUNT(*)'),
        threads: db.raw('COUNT(DISTINCT x.thread_seq)'),
        since: db.raw('SUM(CASE WHEN x.seq > s.seq THEN 1 ELSE 0 END)'),
      }),
  );

/** How many messages about a task this reader may read after an event of its board. */
export const countMessagesAfter = (tx: ReadTx, taskId: string, seq: number, reader: MessageReader): Promise<number> =>
  countRows(tx, (db) => readableTags(db, reader).where('x.task_id', taskId).where('x.seq', '>', seq));
