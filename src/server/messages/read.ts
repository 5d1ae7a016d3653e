/** Reading messages: the timeline, one message, a thread. */
import type { Message, Query } from '../../contract/types.ts';
import { requireMember } from '../access/authority.ts';
import { headOf, onBoard, type Place } from '../access/board-access.ts';
import { findMessage, findMessageBySeq } from '../access/message.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { noSuchRole } from '../boards/roles.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import { hadRole, membersById } from '../members/members.store.ts';
import type { ReadCase, WaitCase } from '../operation/usecase.ts';
import { requireTask } from '../tasks/find.steps.ts';
import { actorView } from '../views/actors.ts';
import { messageViews } from '../views/message.ts';
import { type Page, pageOf, type Window } from '../views/window.ts';
import {
  anyMessageIn,
  directReplies,
  type MessageFilter,
  type MessageRow,
  messagesIn,
  messagesWithSeqs,
} from './messages.store.ts';
import { postedIn } from './posted.rules.ts';

/** Most replies of one agent to a message that are named. */
const MAX_REPLY_IDS = 100;

export const listMessages: ReadCase<'listMessages'>['run'] = async (tx, caller, { params, query }) => {
  const place = await onBoard(tx, caller, params.board);
  const filter = await filterOf(tx, place, query);
  const page = await messagePage(tx, place, filter, { ...query, before: query.before ?? null });
  return { board: place.board.name, messages: page.items, next_after: page.next_after, prev_before: page.prev_before };
};

export const getMessage: ReadCase<'getMessage'>['run'] = async (tx, caller, { params }) => {
  const { place, message } = await findMessage(tx, caller, params.message);
  return withRecipients(tx, place, message);
};

export const getMessageBySeq: ReadCase<'getMessageBySeq'>['run'] = async (tx, caller, { params }) => {
  const place = await onBoard(tx, caller, params.board);
  return withRecipients(tx, place, await findMessageBySeq(tx, place, Number(params.seq)));
};

export const listReplies: WaitCase<'listReplies'>['run'] = async (tx, caller, { params, query }) => {
  const id = params.message;
  const { place, message } = await findMessage(tx, caller, id);
  const rootSeq = message.root_seq ?? message.seq;
  const thread = { boardId: place.board.id, reader: place.reader };
  const page = await messagePage(tx, place, { ...thread, rootSeq }, { ...query, before: null, newest: false });
  const first = { after: rootSeq - 1, before: rootSeq + 1 };
  const [root] = await messageViews(tx, place, await messagesIn(tx, thread, first, 'asc', 1));
  return {
    answer: { message_id: id, root: root ?? null, replies: page.items, next_after: page.next_after },
    empty: page.items.length === 0,
    board: headOf(place),
  };
};

function messagePage(tx: ReadTx, place: Place, filter: MessageFilter, window: Window): Promise<Page<Message>> {
  return pageOf(
    {
      rows: (within, order, limit) => messagesIn(tx, filter, within, order, limit),
      any: (within) => anyMessageIn(tx, filter, within),
      view: (rows) => messageViews(tx, place, rows),
      seq: (message) => message.seq,
      weight: (row) => row.data.length,
    },
    window,
  );
}

/** The filter a query asks for. @throws Refusal when it names what the board never had. */
async function filterOf(tx: ReadTx, place: Place, query: Query<'listMessages'>): Promise<MessageFilter> {
  const filter: MessageFilter = { boardId: place.board.id, reader: place.reader, asked: query };
  if (query.from !== undefined) filter.senderId = (await requireMember(tx, place, query.from)).id;
  if (query.role !== undefined) {
    const roles = parseRoles(place.board);
    const known = Object.hasOwn(roles, query.role) || (await hadRole(tx, place.board.id, query.role));
    if (!known) throw noSuchRole(query.role, roles, { status: 404 });
    filter.senderRole = query.role;
  }
  if (query.task !== undefined) filter.taskId = (await requireTask(tx, place.board.id, query.task)).id;
  return filter;
}

async function withRecipients(tx: ReadTx, place: Place, message: MessageRow) {
  const rows = await messagesWithSeqs(tx, place.board.id, [message.seq]);
  const [view] = await messageViews(tx, place, rows);
  const ids = rows.flatMap((row) => postedIn(row).recipients ?? []);
  return { message: view as Message, recipients: await recipientStates(tx, place, message, ids) };
}

/** What became of the message with each agent it was addressed to, in recorded order. */
async function recipientStates(tx: ReadTx, place: Place, message: MessageRow, ids: string[]) {
  if (ids.length === 0) return [];
  const members = await membersById(tx, ids);
  const replies = await directReplies(tx, place.board.id, message.seq, place.reader, MAX_REPLY_IDS);
  return ids.flatMap((id) => {
    const member = members.get(id);
    if (member?.kind !== 'agent' || member.status !== 'active') return [];
    const replyIds = replies.filter((reply) => reply.sender_id === id).map((reply) => reply.id);
    const received = member.read_up_to >= message.seq;
    const state: 'replied' | 'received' | 'pending' =
      replyIds.length > 0 ? 'replied' : received ? 'received' : 'pending';
    return [{ member: actorView(member, place.reader), state, reply_ids: replyIds }];
  });
}
