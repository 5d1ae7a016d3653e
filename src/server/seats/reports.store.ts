/** What a seat's daemon reports of it: presence, the delivery it applies, where it runs. */
import type { WriteTx } from '../db/tx.ts';

export type ReportRow = {
  member_id: string;
  presence: 'working' | 'idle' | 'waiting' | 'no_session' | null;
  presence_since: number | null;
  /** Every presence but `no_session` has to be repeated. */
  reported_at: number | null;
  delivery: 'focused' | 'all' | 'humans' | 'off' | null;
  location_harness: string | null;
  location_session: string | null;
  location_folder: string | null;
  located_at: number | null;
};

/** A presence that was not repeated for this long, in milliseconds, has run out: since its last report nobody is there. */
export const PRESENCE_MS = 180_000;

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
        location_harness: null,
        location_session: null,
        location_folder: null,
        located_at: null,
      }),
  );
