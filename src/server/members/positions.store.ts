/** What members sent and have read: running counts, read positions, and the gaps of those who were away. */
import { idsOf } from '../db/query.ts';
import { insertInto } from '../db/rows.ts';
import { Change, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow } from './member.rules.ts';

/** Messages a member missed while away: after their former position, up to the number they came back at. */
type GapRow = { member_id: string; after_seq: number; up_to_seq: number };

export const addGap = insertInto<GapRow>('member_gaps');

const changingSent = new Change('members', { sent_count: 'bigint', sent_everyone_count: 'bigint' });

export const saveSent = (tx: WriteTx, { id, sent_count, sent_everyone_count }: MemberRow): Promise<void> =>
  tx.send(changingSent, { id, sent_count, sent_everyone_count });

type ReadPosition = Pick<
  MemberRow,
  'read_up_to' | 'read_count' | 'read_everyone_count' | 'read_sent_count' | 'read_sent_everyone_count'
>;

const positionStatement = statement<{ id: string } & ReadPosition>((db, p) =>
  db('members').where('id', p.id).where('read_up_to', '<', p.read_up_to).update({
    read_up_to: p.read_up_to,
    read_count: p.read_count,
    read_everyone_count: p.read_everyone_count,
    read_sent_count: p.read_sent_count,
    read_sent_everyone_count: p.read_sent_everyone_count,
    reads_since: null,
  }),
);

/** Moves a read position forward; never back, whatever the order in which two of these commit. */
export const movePosition = (tx: WriteTx, id: string, position: ReadPosition): Promise<number> =>
  tx.run(positionStatement, { id, ...position });

/** Of these members those who were away when this number was given, and so never saw it. */
export const gapsOver = (tx: ReadTx, memberIds: string[], seq: number): Promise<string[]> =>
  idsOf(tx, (db) =>
    db('member_gaps')
      .whereIn('member_id', memberIds)
      .where('after_seq', '<', seq)
      .where('up_to_seq', '>=', seq)
      .distinct({ id: 'member_id' }),
  );
