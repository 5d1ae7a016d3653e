/** What followers of a board are told of its agents: presence, applied mode and line. */
import type { ReadTx } from '../db/tx.ts';
import type { Presence } from './presence.rules.ts';

/** Times are milliseconds since the epoch. Where an agent has no line, `line_kind` is null. */
export type AgentStatusRow = {
  member_id: string;
  board_id: string;
  name: string;
  presence: Presence | null;
  presence_since: number | null;
  reported_at: number | null;
  delivery: 'focused' | 'all' | 'humans' | 'off' | null;
  line_kind: 'working' | 'paused' | null;
  line_text: string | null;
  line_until: number | null;
  line_set_by: string | null;
  line_source: 'command' | 'task' | 'plan' | null;
  line_at: number | null;
  line_repo: string | null;
  line_paths: string | null;
  task_id: string | null;
  task_ref: string | null;
  task_title: string | null;
  braked_until: number | null;
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
      .select(
        'm.board_id',
        'm.name',
        'm.braked_until',
        'r.presence',
        'r.presence_since',
        'r.reported_at',
        'r.delivery',
        {
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
        },
      ),
  );

interface AgentStatusLine {
  kind: 'working' | 'paused';
  text: string;
  until: number | null;
  set_by: string;
  source: 'command' | 'task' | 'plan';
  at: number;
  repo: string | null;
  paths: string | null;
  task: { id: string; ref: string; title: string } | null;
}

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
