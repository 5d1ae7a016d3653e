/** Lines that name files, with whose they are and what tells whether they still hold. */
import type { Knex } from 'knex';
import { lifecycles } from '../../contract/values.ts';
import type { ReadTx } from '../db/tx.ts';
import type { Reported } from '../seats/presence.rules.ts';
import type { Span } from './lines.rules.ts';

/** More than that are not read for one answer. */
const MOST = 1_000;

export interface ClaimRow extends Reported, Span {
  /** As whom it is shown. */
  member_id: string;
  /** The member that has the line. */
  holder_id: string;
  agent: string;
  owner: string;
  board: string;
  board_id: string;
  /** The board that it was set on, whose members read it. */
  set_on: string;
  text: string;
  repo: string | null;
  /** JSON of the globs. */
  paths: string;
  task_ref: string | null;
}

/** Those of the active agents of these boards, the newest first. */
export const newestClaims = (tx: ReadTx, boardIds: string[]): Promise<ClaimRow[]> =>
  tx.query<ClaimRow>((db) => claims(db, 'm').whereIn('m.board_id', boardIds));

/** Those that sessions which have a seat on one of these boards set on another one; each with its seat on these. */
export const claimsElsewhere = (tx: ReadTx, boardIds: string[]): Promise<ClaimRow[]> =>
  tx.query<ClaimRow>((db) =>
    claims(db, 's')
      .whereIn('s.board_id', boardIds)
      .where({ 's.kind': 'agent', 's.status': 'active' })
      .whereIn('b.lifecycle', lifecycles)
      .whereNotIn('m.board_id', boardIds)
      .orderBy('s.id', 'desc'),
  );

/** @param seat as which they are shown: `m` has the line, `s` is another of the same session. */
function claims(db: Knex, seat: 'm' | 's'): Knex.QueryBuilder {
  const query = db({ l: 'agent_lines' }).join({ m: 'members' }, 'm.id', 'l.member_id');
  if (seat === 's')
    query.join({ s: 'members' }, (on) =>
      on.on('s.person_id', 'm.person_id').andOn('s.session_digest', 'm.session_digest'),
    );
  return query
    .join({ h: 'boards' }, 'h.id', 'm.board_id')
    .join({ b: 'boards' }, 'b.id', `${seat}.board_id`)
    .join({ p: 'people' }, 'p.id', 'm.person_id')
    .leftJoin({ r: 'seat_reports' }, 'r.member_id', 'm.id')
    .leftJoin({ t: 'tasks' }, 't.id', 'l.task_id')
    .where('m.status', 'active')
    .whereIn('h.lifecycle', lifecycles)
    .whereNotNull('l.paths')
    .orderByRaw('l.at DESC, l.member_id DESC')
    .limit(MOST)
    .select('l.kind', 'l.text', 'l.until', 'l.at', 'l.repo', 'l.paths')
    .select('r.presence', 'r.presence_since', 'r.reported_at', 'r.kept_until')
    .select({ holder_id: 'm.id', member_id: `${seat}.id`, agent: `${seat}.name`, board_id: 'b.id', set_on: 'h.id' })
    .select({ owner: 'p.handle', board: 'b.name', task_ref: 't.ref' });
}
