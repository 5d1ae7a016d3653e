/** Notices to agents: what the server has to tell them outside of any board's record. */
import type { Knex } from 'knex';
import type { Answer } from '../../contract/types.ts';
import { purgeRows } from '../db/query.ts';
import { inParts, rowsOver } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type NoticeKind = Answer<'listNotices'>['notices'][number]['kind'];

export type NoticeRow = {
  id: string;
  member_id: string;
  kind: NoticeKind;
  /** With the kind: what is told once. */
  subject: string;
  generation: number;
  created_at: number;
  expires_at: number;
  text: string;
  /** JSON of `About`. */
  about: string;
  delivered_at: number | null;
};

/** What a notice names. */
export interface About {
  approval_id?: string;
  invite_id?: string;
  pairing_request_id?: string;
  person?: { id: string; handle: string };
  board?: string;
  task?: { id: string; ref: string };
}

const undelivered = (query: Knex.QueryBuilder, memberId: string): Knex.QueryBuilder =>
  query.where('member_id', memberId).whereNull('delivered_at');

/** Adds those that were not written before; answers how many that is. */
export const insertNotices = (tx: WriteTx, rows: NoticeRow[]): Promise<number> =>
  inParts(rows, (part) =>
    tx.change((db) => db('notices').insert(part).onConflict(['member_id', 'kind', 'subject', 'generation']).ignore()),
  );

/**
 * Drops the oldest ones of each of these agents that leave more than `most` undelivered; first those of overlapping lines,
 * which anybody on a board can cause.
 */
export const dropOldest = (tx: WriteTx, memberIds: string[], most: number): Promise<number> =>
  tx.change((db) => {
    const newestFirst = db.raw(
      "ROW_NUMBER() OVER (PARTITION BY member_id ORDER BY kind = 'line_overlap', created_at DESC, id DESC)",
    );
    const ranked = db('notices')
      .whereIn('member_id', memberIds)
      .whereNull('delivered_at')
      .select('id', { nth: newestFirst });
    return db('notices')
      .whereIn('id', db.from(ranked.as('ranked')).where('nth', '>', most).select('id'))
      .delete();
  });

/** Those an agent has not had yet. @param page orders and cuts them. */
export const undeliveredRows = (tx: ReadTx, memberId: string, page: (query: Knex.QueryBuilder) => Knex.QueryBuilder) =>
  tx.query<NoticeRow>((db) => page(undelivered(db('notices'), memberId).where('expires_at', '>', tx.now).select('*')));

/** Notes that an agent had these; what is unknown or another's is left alone. */
export const setDelivered = (tx: WriteTx, memberId: string, ids: string[]): Promise<number> =>
  tx.change((db) => undelivered(db('notices'), memberId).whereIn('id', ids).update({ delivered_at: tx.now }));

export const dropExpired = (tx: WriteTx, limit: number): Promise<number> =>
  purgeRows(tx, { table: 'notices', key: 'id', limit }, (rows) => rows.where('expires_at', '<=', tx.now));

/** The newest notice of each of these agents. */
export const newestOf = rowsOver<{ member_id: string; newest: string }>((db, memberIds) =>
  db('notices').whereIn('member_id', memberIds).groupBy('member_id').select('member_id').max({ newest: 'id' }),
);

/** The newest notice of each active agent of a person: by what a stream sees that one was written. */
export const newestNotices = (tx: ReadTx, personId: string) =>
  tx.query<{ member_id: string; board_id: string; newest: string }>((db) =>
    db({ n: 'notices' })
      .join({ m: 'members' }, 'm.id', 'n.member_id')
      .where({ 'm.person_id': personId, 'm.kind': 'agent', 'm.status': 'active' })
      .groupBy('n.member_id', 'm.board_id')
      .select('n.member_id', 'm.board_id')
      .max({ newest: 'n.id' }),
  );
