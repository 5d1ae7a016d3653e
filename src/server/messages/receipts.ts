/** Whom a message reached, worked out from read positions at the moment of asking; nothing of it is stored. */
import type { Answer } from '../../contract/types.ts';
import { onBoard, type Place } from '../access/board-access.ts';
import { findMessageBySeq } from '../access/message.ts';
import type { ReadTx } from '../db/tx.ts';
import { type MemberWithPerson, membersById } from '../members/members.store.ts';
import { gapsOver } from '../members/positions.store.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { presenceAt } from '../seats/presence.rules.ts';
import { liveQueues, messagesIn } from '../seats/queue.store.ts';
import { reportsOf } from '../seats/reports.store.ts';
import { timestamp } from '../text/time.ts';
import { actorView } from '../views/actors.ts';
import { type MessageRow, messagesWithSeqs } from './messages.store.ts';
import { postedIn } from './posted.rules.ts';

type Receipt = Answer<'listReceipts'>['recipients'][number];

export const listReceipts: ReadCase<'listReceipts'>['run'] = async (tx, caller, { params }) => {
  const place = await onBoard(tx, caller, params.board);
  const message = await findMessageBySeq(tx, place, Number(params.seq));
  const [row] = await messagesWithSeqs(tx, place.board.id, [message.seq]);
  const { to, recipients = [] } = postedIn(row!);
  return {
    board: place.board.name,
    seq: message.seq,
    message_id: message.id,
    to,
    to_everyone: message.to_everyone === 1,
    available: true,
    recipients: await receiptsOf(tx, place, message, recipients),
  };
};

/** In recorded order, without those who are no longer on the board. */
async function receiptsOf(
  tx: ReadTx,
  place: Place,
  { id: messageId, seq, sender_id: sender, held }: MessageRow,
  ids: string[],
): Promise<Receipt[]> {
  if (ids.length === 0) return [];
  // What waits where is told to the sender alone.
  const queues = sender === place.member.id ? await queuedIn(tx, ids, messageId) : new Map<string, number>();
  const members = await membersById(tx, ids);
  const missed = new Set(await gapsOver(tx, ids, seq));
  const reports = new Map((await reportsOf(tx, ids)).map((report) => [report.member_id, report]));
  return ids.flatMap((id) => {
    const member = members.get(id);
    if (member?.status !== 'active') return [];
    const agent = member.kind === 'agent';
    const state = stateOf(member, seq, missed.has(id));
    return [
      {
        member: actorView(member, place.reader),
        state,
        presence: agent ? presenceAt(reports.get(id), tx.now).presence : null,
        ...queuedOf(state, queues.get(id)),
        ...(agent && held === 1 && state === 'pending' ? { held: true, reason: 'agent_run' } : {}),
      },
    ];
  });
}

/** Until when a message is said to wait in the queue of an agent's program. */
async function queuedIn(tx: ReadTx, ids: string[], messageId: string): Promise<Map<string, number>> {
  const holding = (await liveQueues(tx, ids)).filter((row) =>
    messagesIn(row).some(({ message_id }) => message_id === messageId),
  );
  return new Map(holding.map((row) => [row.member_id, row.expires_at]));
}

/** What was received waits nowhere any more. */
const queuedOf = (state: Receipt['state'], expiresAt: number | undefined): Pick<Receipt, 'queued'> =>
  state === 'pending' && expiresAt !== undefined
    ? { queued: { boundary: 'turn_end', expires_at: timestamp(expiresAt) } }
    : {};

/** A position that passed says that an agent was handed the message, and that a person read it; not where they were away. */
function stateOf(member: MemberWithPerson, seq: number, missed: boolean): Receipt['state'] {
  if (member.read_up_to < seq || missed) return 'pending';
  return member.kind === 'agent' ? 'received' : 'read';
}
