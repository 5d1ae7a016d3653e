/** What a seat reports of itself: whether a session is there, and where. Not part of the record. */
import type { Body } from '../../contract/types.ts';
import { ownPlace } from '../access/board-access.ts';
import { dropLapsed } from '../lines/lines.steps.ts';
import type { SeatCaller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { redact } from '../text/redaction.ts';
import { timestamp } from '../text/time.ts';
import { locationView } from '../views/member.ts';
import { presenceAt } from './presence.rules.ts';
import { notWaiting, reportOf, saveReport } from './reports.store.ts';

export const setPresence: WriteCase<'setPresence'> = {
  prepare: ({ waiting, ...body }) => ({ ...body, ...(waiting ? { waiting: withoutSecrets(waiting) } : {}) }),
  async run(tx, caller, { body: { presence, delivery, waiting } }) {
    const { board, member } = await ownPlace(tx, caller as SeatCaller);
    const report = await reportOf(tx, member.id);
    const before = presenceAt(report, tx.now);
    // What lapsed while nobody was there stays lapsed when somebody is there again.
    await dropLapsed(tx, board.id, report, presence === 'no_session');
    // Said again it only renews; after it ran out it begins anew.
    const since = before.presence === presence && before.since !== null ? before.since : tx.now;
    const applied = delivery ?? report.delivery;
    const told = presence === 'waiting' ? toldOf(waiting) : notWaiting;
    const asksAnew = waitingColumns.some((column) => told[column] !== report[column]);
    const changed = since !== before.since || presence !== before.presence || applied !== report.delivery || asksAnew;
    await saveReport(tx, {
      ...report,
      presence,
      presence_since: since,
      reported_at: tx.now,
      kept_until: null,
      delivery: applied,
      ...told,
      revision: report.revision + (changed ? 1 : 0),
    });
    if (changed) tx.publish(`presence:${board.id}`);
    const ids = { board: board.name, agent: member.name, member_id: member.id };
    return { answer: { ...ids, presence, presence_since: timestamp(since) } };
  },
};

const QUESTION = 500;

type Waiting = NonNullable<Body<'setPresence'>['waiting']>;

const withoutSecrets = (waiting: Waiting): Waiting => ({
  ...waiting,
  ...(waiting.question === undefined ? {} : { question: shortened(redact(waiting.question).text) }),
  ...(waiting.where === undefined ? {} : { where: redact(waiting.where).text }),
});

/** A secret at the end is cut off rather than cut in two: what was sent is longer than what is kept. */
const shortened = (text: string): string => [...text].slice(0, QUESTION).join('');

const waitingColumns = Object.keys(notWaiting) as (keyof typeof notWaiting)[];

const toldOf = (waiting: Waiting | undefined) => ({
  waiting_for: waiting?.for ?? null,
  waiting_question: waiting?.question ?? null,
  waiting_where: waiting?.where ?? null,
});

export const setLocation: WriteCase<'setLocation'> = {
  prepare: ({ harness, folder, ...body }) => ({
    ...body,
    harness: redact(harness).text,
    folder: redact(folder).text,
  }),
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
