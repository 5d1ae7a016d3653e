/** What a seat's daemon reports of it: presence, the delivery it applies, where it runs. */
import type { Knex } from 'knex';
import { lifecycles } from '../../contract/values.ts';
import { anyRow } from '../db/query.ts';
import { rowsBy, rowsOver, writeInto } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { PRESENCE_MS, type Reported } from './presence.rules.ts';

export type ReportRow = Reported & {
  member_id: string;
  delivery: 'focused' | 'all' | 'humans' | 'off' | null;
  /** Of the presence `waiting` only. */
  waiting_for: 'permission' | 'question' | null;
  waiting_question: string | null;
  waiting_where: string | null;
  location_harness: string | null;
  location_session: string | null;
  location_folder: string | null;
  /** Name of the access key behind the token that reported it. */
  location_machine: string | null;
  located_at: number | null;
  /** Grows with every change that others hear of. */
  revision: number;
};

export const notWaiting = { waiting_for: null, waiting_question: null, waiting_where: null };
const nowhere = {
  location_harness: null,
  location_session: null,
  location_folder: null,
  location_machine: null,
  located_at: null,
};

/** What a seat has before its first report. */
export const noReport = (memberId: string): ReportRow => ({
  member_id: memberId,
  presence: null,
  presence_since: null,
  reported_at: null,
  kept_until: null,
  delivery: null,
  ...notWaiting,
  ...nowhere,
  revision: 0,
});

/** The reports of these seats; a seat that never reported has none. */
export const reportsOf = rowsBy<ReportRow>('seat_reports', 'member_id');

export const reportOf = async (tx: ReadTx, memberId: string): Promise<ReportRow> =>
  (await reportsOf(tx, [memberId]))[0] ?? noReport(memberId);

/** Writes a seat's report whole. The seat's row is locked, so nobody else writes it. */
export const saveReport = writeInto<ReportRow>('seat_reports', ['member_id']);

/** With its seat a report ends: nobody is there any more, and where it ran is forgotten. */
export const endReports = (tx: WriteTx, memberIds: string[]): Promise<number> =>
  tx.change((db) =>
    db('seat_reports')
      .whereIn('member_id', memberIds)
      .update({
        presence: db.raw("CASE WHEN presence IS NULL THEN NULL ELSE 'no_session' END"),
        presence_since: db.raw(
          "CASE WHEN presence IS NULL OR presence = 'no_session' THEN presence_since WHEN reported_at <= ? THEN reported_at ELSE ? END",
          [tx.now - PRESENCE_MS, tx.now],
        ),
        kept_until: null,
        ...notWaiting,
        ...nowhere,
      }),
  );

/** Of these, where somebody was there at this moment, or counted as there. */
const there = (reports: Knex.QueryBuilder, at: number): Knex.QueryBuilder =>
  reports
    .whereNot('presence', 'no_session')
    .where((report) => report.where('reported_at', '>', at - PRESENCE_MS).orWhere('kept_until', '>', at));

export const anyThere = (tx: ReadTx, at: number): Promise<boolean> =>
  anyRow(tx, (db) => there(db('seat_reports'), at).select('member_id').limit(1));

/** From now on, agents who were there at this moment count as there for as long as a presence lasts. */
export const keepThere = (tx: WriteTx, at: number): Promise<number> =>
  tx.change((db) => there(db('seat_reports'), at).update({ kept_until: tx.now + PRESENCE_MS }));

export type WaitingSeat = ReportRow & { name: string; board_id: string };

/** The agents of these people that said they wait for their person; whether they still do is not looked at. */
export const waitingSeats = rowsOver<WaitingSeat>((db, personIds) =>
  db({ m: 'members' })
    .join({ r: 'seat_reports' }, 'r.member_id', 'm.id')
    .whereIn('m.person_id', personIds)
    .where({ 'm.kind': 'agent', 'm.status': 'active', 'r.presence': 'waiting' })
    .orderBy('m.id')
    .select('r.*', 'm.name', 'm.board_id'),
);

export interface Disconnected {
  member_id: string;
  board_id: string;
  person_id: string;
  /** Handle of the agent's person. */
  handle: string;
  /** Nobody was there from this moment on without a break. */
  since: number;
}

interface DisconnectedFilter {
  /** Agents of this person only; null: everybody's. */
  personId: string | null;
  /** Among these only. */
  ids?: string[];
  /** Nobody was there at this moment or later. */
  before: number;
  limit: number;
}

/** When the present absence began; a presence that ran out counts from its last report. */
const since = (db: Knex): Knex.Raw =>
  db.raw("CASE WHEN r.presence = 'no_session' THEN r.presence_since ELSE r.reported_at END");

/** Agents without a session for long, on boards that are not deleted, longest first; none that never reported or is kept. */
export const disconnectedAgents = (tx: ReadTx, { personId, ids, before, limit }: DisconnectedFilter) =>
  tx.query<Disconnected>((db) => {
    const query = db({ r: 'seat_reports' })
      .join({ m: 'members' }, 'm.id', 'r.member_id')
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .where({ 'm.kind': 'agent', 'm.status': 'active' })
      .whereIn('b.lifecycle', lifecycles)
      .whereNotNull('r.presence')
      .where(since(db), '<=', before)
      .whereRaw('COALESCE(r.kept_until, 0) <= ?', [tx.now])
      .orderBy([{ column: 'since' }, { column: 'm.id' }])
      .limit(limit)
      .select({ member_id: 'm.id', board_id: 'b.id', person_id: 'p.id', handle: 'p.handle', since: since(db) });
    if (personId !== null) query.where('m.person_id', personId);
    if (ids !== undefined) query.whereIn('m.id', ids);
    return query;
  });
