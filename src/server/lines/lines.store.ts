/** What agents are on now: one line each, never part of the record. */
import { rowsBy, writeInto } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Reported } from '../seats/presence.rules.ts';
import type { LineRow, Span } from './lines.rules.ts';

export type { LineRow } from './lines.rules.ts';

export const saveLine = writeInto<LineRow>('agent_lines', ['member_id']);

export const linesOf = rowsBy<LineRow>('agent_lines', 'member_id');

/** What lines are cleared by: whose they are, the task they are about, and when they were set. */
export type LinesWith = Partial<Pick<LineRow, 'member_id' | 'task_id' | 'at'>>;

export const deleteLines = (tx: WriteTx, lines: LinesWith): Promise<number> =>
  tx.change((db) => db('agent_lines').where(lines).delete());

/** Lines that a person set for their agents, on all boards, go on naming them by a new name. Before they have it there. */
export const renameSetter = (tx: WriteTx, personId: string, name: string): Promise<number> =>
  tx.change((db) =>
    db('agent_lines')
      .whereIn('member_id', db('members').where({ person_id: personId, kind: 'agent' }).select('id'))
      .whereExists(
        db({ a: 'members' })
          .join({ p: 'members' }, (on) => on.on('p.board_id', 'a.board_id').andOn('p.person_id', 'a.person_id'))
          .whereRaw("a.id = agent_lines.member_id AND p.kind = 'human' AND p.name = agent_lines.set_by")
          .select('p.id'),
      )
      .update({ set_by: name }),
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
      .select('r.presence', 'r.presence_since', 'r.reported_at', 'r.kept_until'),
  );
