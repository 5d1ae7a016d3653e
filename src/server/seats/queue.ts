/** What waits in the queue of an agent's own program, so that senders can see it. Bookkeeping, and never a receipt. */
import { Refusal } from '../../contract/errors.ts';
import type { Body } from '../../contract/types.ts';
import { ownPlace, type Place } from '../access/board-access.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { inboxSeqs, toEveryone } from '../inbox/inbox.store.ts';
import { messagesWithSeqs } from '../messages/messages.store.ts';
import type { SeatCaller } from '../operation/caller.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { timestamp } from '../text/time.ts';
import { messagesIn, type QueuedMessage, type QueueRow, queueOf, saveQueue } from './queue.store.ts';

/** How long a report counts without being repeated. */
const LIVES_MS = 45_000;
/** More than a report may name; what is further behind cannot be in a queue yet. */
const MOST_WAITING = 10_000;

export const getDeliveryQueue: ReadCase<'getDeliveryQueue'>['run'] = async (tx, caller) => {
  const place = await ownPlace(tx, caller as SeatCaller);
  const row = await queueOf(tx, place.member.id);
  const live = row !== undefined && row.expires_at > tx.now;
  return {
    ...fenceOf(tx, place, row),
    messages: live ? await stillWaiting(tx, place, messagesIn(row)) : [],
  };
};

export const reportDeliveryQueue: WriteCase<'reportDeliveryQueue'> = {
  async run(tx, caller, { body }) {
    const place = await ownPlace(tx, caller as SeatCaller);
    const row = await next(tx, place, body);
    await saveQueue(tx, row);
    return { answer: fenceOf(tx, place, row) };
  },
};

async function next(tx: WriteTx, place: Place, body: Body<'reportDeliveryQueue'>): Promise<QueueRow> {
  const { id: member_id } = place.member;
  const known = await queueOf(tx, member_id);
  const { session, boot } = body;
  const common = { member_id, session, boot, expires_at: tx.now + LIVES_MS };
  if ('expected_epoch' in body) {
    if ((known?.epoch ?? 0) !== body.expected_epoch) throw conflict();
    return { ...common, epoch: body.expected_epoch + 1, revision: 0, messages: '[]' };
  }
  const { epoch, revision, messages } = body;
  if (!known || known.epoch !== epoch || known.session !== session || known.boot !== boot) throw conflict();
  if (revision <= known.revision) throw conflict();
  return { ...common, epoch, revision, messages: JSON.stringify(await stillWaiting(tx, place, messages)) };
}

/** Those that are in the seat's inbox now. */
async function stillWaiting(tx: ReadTx, { board, member, reader }: Place, messages: readonly QueuedMessage[]) {
  if (messages.length === 0) return [];
  const page = { boardId: board.id, after: member.read_up_to, urgentOnly: false, limit: MOST_WAITING };
  const waiting = await inboxSeqs(tx, reader, page, await toEveryone(tx, page));
  const there = new Set(waiting);
  const wanted = messages.filter(({ seq }) => there.has(seq));
  if (wanted.length === 0) return [];
  const rows = await messagesWithSeqs(tx, board.id, [...new Set(wanted.map(({ seq }) => seq))]);
  const ids = new Map(rows.map(({ seq, id }) => [seq, id]));
  return wanted.filter(({ seq, message_id }) => ids.get(seq) === message_id);
}

function fenceOf(tx: ReadTx, { board, member }: Place, row: QueueRow | undefined) {
  const live = row !== undefined && row.expires_at > tx.now;
  return {
    board_id: board.id,
    member_id: member.id,
    epoch: row?.epoch ?? 0,
    revision: row?.revision ?? 0,
    ...(live ? { expires_at: timestamp(row.expires_at) } : {}),
  };
}

function conflict(): Refusal {
  const message = 'Another reporter has taken over this queue, or has reported since you read it.';
  const hint = 'Read it again. The reporter that reports now continues, and the other one stops.';
  return new Refusal('queue_report_conflict', message, { hint });
}
