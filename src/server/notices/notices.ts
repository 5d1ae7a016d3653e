/** What an agent has not been told yet. Reading takes nothing away; its runtime says what was handed over. */
import { headOf, ownPlace } from '../access/board-access.ts';
import { noticeStep } from '../approvals/next.rules.ts';
import type { SeatCaller } from '../operation/caller.ts';
import type { WaitCase, WriteCase } from '../operation/usecase.ts';
import { cutPage, pageFrom, readPageToken } from '../text/page-token.ts';
import { timestamp } from '../text/time.ts';
import { type About, type NoticeRow, setDelivered, undeliveredRows } from './notices.store.ts';

export const listNotices: WaitCase<'listNotices'>['run'] = async (
  tx,
  found,
  { query: { limit, after }, deps: { address } },
) => {
  const caller = found as SeatCaller;
  const place = await ownPlace(tx, caller);
  const from = readPageToken(after);
  const { id } = caller.seat;
  const rows = await undeliveredRows(tx, id, (all) => pageFrom(all, 'notices', from, limit));
  const { page, next_after } = cutPage(rows, limit);
  return {
    answer: { notices: page.map((row) => view(row, address.baseUrl())), next_after },
    empty: page.length === 0,
    board: headOf(place),
    keys: [`notices:${id}`],
  };
};

function view(row: NoticeRow, baseUrl: string) {
  const { board: _, ...about } = JSON.parse(row.about) as About;
  return {
    id: row.id,
    kind: row.kind,
    at: timestamp(row.created_at),
    expires_at: timestamp(row.expires_at),
    text: row.text,
    ...about,
    next: noticeStep(JSON.parse(row.about) as About, baseUrl),
  };
}

export const ackNotices: WriteCase<'ackNotices'> = {
  run: async (tx, caller, { body: { ids } }) => ({
    answer: { acknowledged: await setDelivered(tx, (caller as SeatCaller).seat.id, ids) },
  }),
};
