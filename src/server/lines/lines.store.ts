/** What agents are on now: one line each, never part of the record. */
import { listStatement, type Params } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Presence } from '../seats/presence.rules.ts';

export type LineRow = {
  member_id: string;
  kind: 'working' | 'paused';
  text: string;
  /** Milliseconds since the epoch; only of a pause. */
  until: number | null;
  task_id: string | null;
  /** Name of the agent or of its person. */
  set_by: string;
  source: 'command' | 'task' | 'plan';
  at: number;
  /** The repository that the paths are in; null where there is none. */
  repo: string | null;
  /** JSON of the globs; null: it names no files. */
  paths: string | null;
};

export const saveLine = (tx: WriteTx, row: LineRow): Promise<number> =>
  tx.change((db) => db('agent_lines').insert(row).onConflict('member_id').merge());

const ofStatement = listStatement<Params, LineRow>((db, _p, memberIds) =>
  db('agent_lines')
    .whereIn('member_id', memberIds as string[])
    .select('*'),
);

export const linesOf = (tx: ReadTx, memberIds: string[]): Promise<LineRow[]> =>
  tx.all(...ofStatement.over({}, memberIds));

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
export interface ReportedLine extends Pick<LineRow, 'member_id' | 'kind' | 'until' | 'at'> {
  board_id: string;
  presence: Presence | null;
  presence_since: number | null;
  reported_at: number | null;
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
      .select(
        'l.member_id',
        'l.kind',
        'l.until',
        'l.at',
        'm.board_id',
        'r.presence',
        'r.presence_since',
        'r.reported_at',
      ),
  );
