/** What a seat reports of itself: whether a session is there, and where. Not part of the record. */
import { ownPlace } from '../access/board-access.ts';
import { dropLapsed } from '../lines/lines.steps.ts';
import type { SeatCaller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { timestamp } from '../text/time.ts';
import { locationView } from '../views/member.ts';
import { presenceAt } from './presence.rules.ts';
import { reportOf, saveReport } from './reports.store.ts';

export const setPresence: WriteCase<'setPresence'> = {
  async run(tx, caller, { body: { presence, delivery } }) {
    const { board, member } = await ownPlace(tx, caller as SeatCaller);
    const report = await reportOf(tx, member.id);
    const before = presenceAt(report, tx.now);
    // What lapsed while nobody was there stays lapsed when somebody is there again.
    await dropLapsed(tx, board.id, report, presence === 'no_session');
    // Said again it only renews; after it ran out it begins anew.
    const since = before.presence === presence && before.since !== null ? before.since : tx.now;
    const applied = delivery ?? report.delivery;
    const changed = since !== before.since || presence !== before.presence || applied !== report.delivery;
    await saveReport(tx, {
      ...report,
      presence,
      presence_since: since,
      reported_at: tx.now,
      delivery: applied,
      revision: report.revision + (changed ? 1 : 0),
    });
    if (changed) tx.publish(`presence:${board.id}`);
    const ids = { board: board.name, agent: member.name, member_id: member.id };
    return { answer: { ...ids, presence, presence_since: timestamp(since) } };
  },
};

export const setLocation: WriteCase<'setLocation'> = {
  async run(tx, caller, { body }) {
    const { member } = await ownPlace(tx, caller as SeatCaller);
    const report = {
      ...(await reportOf(tx, member.id)),
      location_harness: body.harness,
      location_session: body.session_id,
      location_folder: body.folder,
      location_machine: caller.key.key_name,
      located_at: tx.now,
    };
    await saveReport(tx, report);
    const answer = locationView(report);
    if (!answer) throw new Error('a location that was just reported is there');
    return { answer };
  },
};
