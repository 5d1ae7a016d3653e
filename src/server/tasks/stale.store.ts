/** Tasks in progress whose owners are agents, with what tells whether somebody is still there. */
import type { ReadTx } from '../db/tx.ts';
import type { Reported } from '../seats/presence.rules.ts';

export interface OwnedRow extends Reported {
  id: string;
  board_id: string;
  ref: string;
  title: string;
  owner_at: number;
  owner_id: string;
  owner_name: string;
  /** Whose agent the owner is. */
  person_id: string;
}

/** By their boards, or by their ids. */
export const ownedByAgents = (tx: ReadTx, among: { boardIds: string[] } | { taskIds: string[] }): Promise<OwnedRow[]> =>
  tx.query<OwnedRow>((db) => {
    const query = db({ t: 'tasks' })
      .join({ o: 'members' }, 'o.id', 't.owner_id')
      .leftJoin({ r: 'seat_reports' }, 'r.member_id', 'o.id')
      .where({ 't.state': 'in_progress', 'o.kind': 'agent' })
      .select('t.id', 't.board_id', 't.ref', 't.title', 't.owner_at', 't.owner_id', 'o.person_id')
      .select('r.presence', 'r.presence_since', 'r.reported_at', 'r.kept_until', { owner_name: 'o.name' });
    return 'boardIds' in among ? query.whereIn('t.board_id', among.boardIds) : query.whereIn('t.id', among.taskIds);
  });

/** When the owner or its person last posted about each of these tasks. */
export const lastWords = (tx: ReadTx, taskIds: string[]): Promise<{ task_id: string; at: number }[]> =>
  tx.query((db) =>
    db({ x: 'message_tasks' })
      .join({ t: 'tasks' }, 't.id', 'x.task_id')
      .join({ o: 'members' }, 'o.id', 't.owner_id')
      .join({ m: 'messages' }, 'm.id', 'x.message_id')
      .join({ s: 'members' }, 's.id', 'm.sender_id')
      .whereIn('x.task_id', taskIds)
      .whereRaw("(s.id = o.id OR (s.kind = 'human' AND s.person_id = o.person_id))")
      .groupBy('x.task_id')
      .select('x.task_id')
      .max({ at: 'm.at' }),
  );
