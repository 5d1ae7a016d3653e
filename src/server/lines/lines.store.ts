/** What agents are on now: one line each, never part of the record. */
import { rowsBy, writeInto } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Reported } from '../seats/presence.rules.ts';
import type { LineRow, Span } from './lines.rules.ts';

export type { LineRow } from './lines.rules.ts';

export const saveLine = writeInto<LineRow>('agent_lines', ['member_id']);

export const linesOf = rowsBy<LineRow>('agent_lines', 'member_id');

export const deleteLines = (tx: WriteTx, memberIds: string[]): Promise<number> =>
  tx.change((db) => db('agent_lines').whereIn('member_id', memberIds).delete());

/** Clears a line, unless another has been set meanwhile. */
export const deleteLineOf = (tx: WriteTx, { member_id, at }: Pick<LineRow, 'member_id' | 'at'>): Promise<number> =>
  tx.change((db) => db('agent_lines').where({ member_id, at }).delete());

/** Clears a member's line if it is about this task, or everybody's who has one about it. */
export const deleteLinesAbout = (tx: WriteTx, taskId: string, memberId?: string): Promise<number> =>
  tx.change((db) => {
    const query = db('agent_lines').where('task_id', taskId).delete();
    return memberId === undefined ? query : query.where('member_id', memberId);
  });

/** Lines that a person set for their agents go on naming them by a new name. */
export const renameSetter = (tx: WriteTx, personId: string, before: string, after: string): Promise<number> =>
  tx.change((db) =>
    db('agent_lines')
      .where('set_by', before)
      .whereIn(
        'member_id',
        // An agent may bear the name where its person is not on the board.
        db('members').where({ person_id: personId, kind: 'agent' }).whereNot('name', before).select('id'),
      )
      .update({ set_by: after }),
  );

/** A line with what its agent last reported. */
export interface ReportedLine extends Span, Reported {
  member_id: string;
  board_id: string;
}

/** All lines there are, at most `limit`, by member. */
export const listReportedLines = (tx: ReadTx, after: string, limit: number): Promise<ReportedLine[]> =>
  tx.query<ReportedLine>((db) =>
    db({ l: 'agent_lines' })
      .join({ m: 'members' }, 'm.id', 'l.member_id')
      .leftJoin({ r: 'seat_reports' }, 'r.member_id', 'l.member_id')
      .where('l.member_id', '>', after)
      .orderBy('l.member_id')
      .limit(limit)
      .select('l.member_id', 'l.kind', 'l.until', 'l.at', 'm.board_id')
      .select('r.presence', 'r.presence_since', 'r.reported_at'),
  );
