/** What followers of a board are told of its agents: presence, applied mode and line. */
import type { ReadTx } from '../db/tx.ts';
import type { LineRow } from '../lines/lines.rules.ts';
import type { Reported } from './presence.rules.ts';

type Line = Omit<LineRow, 'member_id' | 'task_id'>;

/** Times are milliseconds since the epoch. Where an agent has no line, `line_kind` is null. */
export type AgentStatusRow = Reported & { [Column in keyof Line as `line_${Column}`]: Line[Column] | null } & {
  member_id: string;
  board_id: string;
  name: string;
  delivery: 'focused' | 'all' | 'humans' | 'off' | null;
  task_id: string | null;
  task_ref: string | null;
  task_title: string | null;
  braked_until: number | null;
  /** Of its report; null before the first one. */
  revision: number | null;
};

/** The active agents of these boards. */
export const agentStatusesOn = (tx: ReadTx, boardIds: string[]): Promise<AgentStatusRow[]> =>
  tx.query<AgentStatusRow>((db) =>
    db({ m: 'members' })
      .leftJoin({ r: 'seat_reports' }, 'r.member_id', 'm.id')
      .leftJoin({ l: 'agent_lines' }, 'l.member_id', 'm.id')
      .leftJoin({ t: 'tasks' }, 't.id', 'l.task_id')
      .whereIn('m.board_id', boardIds)
      .where({ 'm.kind': 'agent', 'm.status': 'active' })
      .select('m.board_id', 'm.name', 'm.braked_until', 'r.delivery', 'r.revision')
      .select('r.presence', 'r.presence_since', 'r.reported_at', 'r.kept_until')
      .select({
        member_id: 'm.id',
        line_kind: 'l.kind',
        line_text: 'l.text',
        line_until: 'l.until',
        line_set_by: 'l.set_by',
        line_source: 'l.source',
        line_at: 'l.at',
        line_repo: 'l.repo',
        line_paths: 'l.paths',
        task_id: 't.id',
        task_ref: 't.ref',
        task_title: 't.title',
      }),
  );

type AgentStatusLine = Line & { task: { id: string; ref: string; title: string } | null };

/** The line in a status row. */
export function lineIn(row: AgentStatusRow): AgentStatusLine | null {
  const { line_kind: kind, line_text: text, line_set_by: setBy, line_source: source, line_at: at } = row;
  if (kind === null || text === null || setBy === null || source === null || at === null) return null;
  const { task_id: id, task_ref: ref, task_title: title } = row;
  const task = id === null || ref === null || title === null ? null : { id, ref, title };
  return {
    kind,
    text,
    until: row.line_until,
    set_by: setBy,
    source,
    at,
    repo: row.line_repo,
    paths: row.line_paths,
    task,
  };
}
