/** Reactions on messages. */
import type { ReactionName } from '../../contract/values.ts';
import { anyRow } from '../db/query.ts';
import { insertInto, rowsOver } from '../db/rows.ts';
import { statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

type ReactionRow = {
  message_id: string;
  member_id: string;
  name: ReactionName;
  /** Of the event that added it: earlier reactions come first. */
  seq: number;
  at: number;
};

export type ReactionWithMember = ReactionRow & { member_name: string };

/** The reactions to these messages, earliest first. */
export const reactionsTo = rowsOver<ReactionWithMember>((db, ids) =>
  db({ r: 'reactions' })
    .join({ m: 'members' }, 'm.id', 'r.member_id')
    .whereIn('r.message_id', ids)
    .orderBy('r.seq')
    .select('r.*', { member_name: 'm.name' }),
);

type Key = Pick<ReactionRow, 'message_id' | 'member_id' | 'name'>;

export const hasReacted = (tx: ReadTx, key: Key): Promise<boolean> =>
  anyRow(tx, (db) => db('reactions').where(key).select('seq'));

export const insertReaction = insertInto<ReactionRow>('reactions');

export const deleteReaction = (tx: WriteTx, key: Key): Promise<number> =>
  tx.change((db) => db('reactions').where(key).delete());

const countStatement = statement<{ id: string; by: number }>((db, p) =>
  db('messages')
    .where('id', p.id)
    .update({ reaction_count: db.raw('reaction_count + ?', [p.by]) }),
);

/** Keeps the count of standing reactions on the message's row. */
export const countReaction = (tx: WriteTx, messageId: string, by: 1 | -1): Promise<number> =>
  tx.run(countStatement, { id: messageId, by });
