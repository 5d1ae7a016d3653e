/** Lines that name files, with whose they are and what tells whether they still hold. */
import { lifecycles } from '../../contract/values.ts';
import type { ReadTx } from '../db/tx.ts';
import type { Reported } from '../seats/presence.rules.ts';
import type { Span } from './lines.rules.ts';

/** More than that are not read for one answer. */
const MOST = 1_000;

export interface ClaimRow extends Reported, Span {
  member_id: string;
  agent: string;
  owner: string;
  board: string;
  board_id: string;
  text: string;
  repo: string | null;
  /** JSON of the globs. */
  paths: string;
  task_ref: string | null;
}

/** Those of the active agents of these boards, the newest first. */
export const newestClaims = (tx: ReadTx, boardIds: string[]): Promise<ClaimRow[]> =>
  tx.query<ClaimRow>((db) =>
    db({ l: 'agent_lines' })
      .join({ m: 'members' }, 'm.id', 'l.member_id')
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .leftJoin({ r: 'seat_reports' }, 'r.member_id', 'm.id')
      .leftJoin({ t: 'tasks' }, 't.id', 'l.task_id')
      .whereIn('m.board_id', boardIds)
      .where('m.status', 'active')
      .whereIn('b.lifecycle', lifecycles)
      .whereNotNull('l.paths')
      .orderByRaw('l.at DESC, l.member_id DESC')
      .limit(MOST)
      .select('l.member_id', 'l.kind', 'l.text', 'l.until', 'l.at', 'l.repo', 'l.paths', 'm.board_id')
      .select('r.presence', 'r.presence_since', 'r.reported_at')
      .select({ agent: 'm.name', owner: 'p.handle', board: 'b.name', task_ref: 't.ref' }),
  );
