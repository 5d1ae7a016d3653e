/** An agent's inbox, and read positions. */
import { Refusal } from '../../contract/errors.ts';
import type { Inbox, Message } from '../../contract/types.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { effectivePolicy } from '../identity/midturn.rules.ts';
import type { Caller, SeatCaller } from '../operation/caller.ts';
import type { WaitCase, WriteCase } from '../operation/usecase.ts';
import { membersWithIds } from '../seats/members.store.ts';
import { movePosition } from '../seats/positions.store.ts';
import { personUnread, unreadWith } from '../views/board.ts';
import { eyesOf, messageViews } from '../views/message.ts';
import { headOf, lockPlace, ownPlace, type Place } from '../views/place.ts';
import { PAGE_BYTES } from '../views/window.ts';
import { workView } from '../views/work.ts';
import { countsAt, inboxSeqs, unreadSince } from './inbox.store.ts';
import { messagesWithSeqs } from './messages.store.ts';

export const readInbox: WaitCase<'readInbox'>['run'] = async (tx, caller, { query }) => {
  const { seat } = caller as SeatCaller;
  const place = await ownPlace(tx, caller as SeatCaller);
  const answer = await inboxOf(tx, place, seat, {
    after: query.after,
    limit: query.limit,
    urgentOnly: query.urgent,
  });
  return { answer, empty: answer.messages.length === 0, board: headOf(place) };
};

async function inboxOf(
  tx: ReadTx,
  place: Place,
  seat: SeatCaller['seat'],
  page: { after: number; limit: number; urgentOnly: boolean },
): Promise<Inbox> {
  const { board, member, reader } = place;
  const woken = await unreadSince(tx, {
    boardId: board.id,
    memberId: member.id,
    after: member.read_up_to,
    readsAll: reader.readsAll,
  });
  const seqs = await inboxSeqs(tx, {
    boardId: board.id,
    eyes: eyesOf(reader),
    after: Math.max(member.read_up_to, page.after),
    urgentOnly: page.urgentOnly,
    named: woken.count > 0,
    limit: page.limit + 1,
  });
  const { messages, cut } = await pageOfInbox(tx, place, seqs.slice(0, page.limit));
  return {
    board: board.name,
    board_id: board.id,
    agent: member.name,
    member_id: member.id,
    messages,
    cursor: member.read_up_to,
    more: cut || seqs.length > page.limit,
    unread: unreadWith(board, member, woken),
    unread_urgent: woken.urgent,
    delivery_mode: member.delivery_mode ?? 'focused',
    delivery_revision: member.delivery_revision,
    midturn_policy: effectivePolicy(seat.midturn_policy, seat.midturn_default).policy,
    work: await workView(tx, place),
  };
}

async function pageOfInbox(tx: ReadTx, place: Place, seqs: number[]) {
  if (seqs.length === 0) return { messages: [], cut: false };
  const rows = await messagesWithSeqs(tx, place.board.id, seqs);
  const messages = await withPeers(tx, place, await messageViews(tx, place, rows));
  let bytes = 0;
  const fit = messages.findIndex((message) => {
    bytes += Buffer.byteLength(JSON.stringify(message));
    return bytes > PAGE_BYTES;
  });
  const end = fit === -1 ? messages.length : Math.max(fit, 1);
  return { messages: messages.slice(0, end), cut: end < messages.length };
}

/**
 * Names the sender of an urgent message to this agent by its name, where that is another active agent of its person: such
 * a message may reach it in the middle of a turn, if its person allows that.
 */
async function withPeers(tx: ReadTx, { member }: Place, messages: Message[]): Promise<Message[]> {
  const own = messages.filter(
    ({ urgent, sender, to }) => urgent && sender === 'owner_agent' && to.includes(`@${member.name}`),
  );
  if (own.length === 0) return messages;
  const senders = await membersWithIds(tx, [...new Set(own.map(({ from }) => from.id))]);
  const active = new Set(senders.filter(({ status }) => status === 'active').map(({ id }) => id));
  const peers = new Set(own.filter(({ from }) => active.has(from.id)));
  return messages.map((one) => (peers.has(one) ? { ...one, midturn_peer_sender_id: one.from.id } : one));
}

export const ackInbox: WriteCase<'ackInbox'> = {
  async run(tx, caller, { body }) {
    const place = await ownPlace(tx, caller as SeatCaller);
    const cursor = await acknowledge(tx, place, body.up_to);
    if (cursor > place.member.read_up_to) tx.publish(`positions:${caller.person.person_id}`);
    return { answer: { cursor, member_id: place.member.id } };
  },
};

export const ackBoard: WriteCase<'ackBoard'> = {
  async run(tx, caller, { params, body }) {
    // Held, because the answer's count is put together from the board's counters and the position's.
    const place = await lockPlace(tx, caller, params['board'] ?? '');
    const cursor = await acknowledge(tx, place, body.up_to);
    return { answer: await positionOf(tx, caller, place, cursor) };
  },
};

/** Moves the position forward to `upTo`; answers where it stands. @throws Refusal `ack_out_of_range`. */
async function acknowledge(tx: WriteTx, place: Place, upTo: number): Promise<number> {
  const { board, member } = place;
  if (upTo > board.head_seq) {
    throw new Refusal('ack_out_of_range', `The board's newest number is ${board.head_seq}.`, {
      hint: 'Acknowledge only what was shown.',
      details: { head_seq: board.head_seq },
    });
  }
  if (upTo <= member.read_up_to) return member.read_up_to;
  await movePosition(tx, member.id, { read_up_to: upTo, ...(await countsAt(tx, board.id, member.id, upTo)) });
  return upTo;
}

async function positionOf(tx: WriteTx, caller: Caller, place: Place, cursor: number) {
  const { board, member } = place;
  if (cursor === member.read_up_to)
    return { board: board.name, read_up_to: cursor, unread: personUnread(board, member) };
  tx.publish(`positions:${caller.person.person_id}`);
  const counts = await countsAt(tx, board.id, member.id, cursor);
  return { board: board.name, read_up_to: cursor, unread: personUnread(board, { ...member, ...counts }) };
}
