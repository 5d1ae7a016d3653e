/** Posting a message. */
import { Refusal } from '../../contract/errors.ts';
import { codePoints } from '../../contract/schemas/common.ts';
import { MAX_BODY } from '../../contract/schemas/messages.ts';
import type { Body, Mention, Message, Role } from '../../contract/types.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { requirePermission, requirePostingRights } from '../boards/policy.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { append } from '../record/append.ts';
import { activeAgents, type MemberRow, memberById, membersNamed, saveSent } from '../seats/members.store.ts';
import { newId } from '../text/ids.ts';
import { type Redacted, redact } from '../text/redaction.ts';
import { eventActor } from '../views/actors.ts';
import { mayRead, messageNotFound, messageView, type PostedData } from '../views/message.ts';
import { lockPlace, type Place, requireActive } from '../views/place.ts';
import { type Addressing, addressThread, addressTo, toEveryone } from './addressing.steps.ts';
import { dayOf, insertDay } from './days.store.ts';
import { clearRequest, insertNamed, type NamedRow } from './inbox.store.ts';
import { findMentions, resolveMentions } from './mentions.rules.ts';
import { countReply, insertMessage, type MessageRow, messageById, messageBySeq } from './messages.store.ts';

type Post = Omit<Body<'postMessage'>, 'body'> & { redacted: Redacted };

export const postMessage: WriteCase<'postMessage', Post> = {
  /** Lengths count what was sent; secrets leave the text before anything else sees it. */
  prepare(body) {
    const { body: text, ...rest } = body;
    const length = text.length > MAX_BODY ? codePoints(text) : text.length;
    if (length > MAX_BODY) {
      throw new Refusal('message_too_large', `The message has ${length} characters; ${MAX_BODY} fit.`, {
        hint: 'Cut it with --truncate tail, or put it onto the board as a file.',
        details: { limit: MAX_BODY, length },
      });
    }
    return { ...rest, redacted: redact(text) };
  },

  async run(tx, caller, { params, body }) {
    const place = await lockPlace(tx, caller, params['board'] ?? '');
    requireActive(place.board);
    const roles = parseRoles(place.board);
    const role = place.member.kind === 'agent' ? roles[place.member.role ?? ''] : undefined;
    if (place.member.kind === 'agent') requirePermission(role, 'post');

    const parent = body.reply_to === undefined ? null : await readableParent(tx, place, body.reply_to);
    const addressing = await address(tx, place, roles, body.to, parent);
    if (place.member.kind === 'agent') {
      requirePostingRights(place.policy, role, { everyone: addressing.everyone, urgent: body.urgent });
    }
    const mentions = await mentionsIn(tx, place, roles, body.redacted.text, addressing);
    const answer = await write(tx, caller, place, { post: body, parent, addressing, mentions });
    return { answer };
  },
};

/** The message replied to. @throws Refusal `message_not_found` when missing, elsewhere or unreadable. */
async function readableParent(tx: WriteTx, place: Place, id: string): Promise<MessageRow> {
  const parent = await messageById(tx, id);
  if (!parent || parent.board_id !== place.board.id || !(await mayRead(tx, place.reader, parent)))
    throw messageNotFound();
  return parent;
}

function address(
  tx: WriteTx,
  place: Place,
  roles: Record<string, Role>,
  to: string[] | undefined,
  parent: MessageRow | null,
): Promise<Addressing> {
  const from = { boardId: place.board.id, sender: place.member, readsAll: place.reader.readsAll, roles };
  if (to) return addressTo(tx, from, to);
  if (parent) return addressThread(tx, from, parent.root_seq ?? parent.seq);
  return Promise.resolve(toEveryone);
}

/** Mentions with the members they mean now and whether each is woken. */
async function mentionsIn(
  tx: WriteTx,
  place: Place,
  roles: Record<string, Role>,
  text: string,
  addressing: Addressing,
): Promise<Mention[]> {
  const found = findMentions(text);
  if (found.length === 0) return [];
  const names = found.flatMap((mention) => (mention.form === 'name' ? [mention.name] : []));
  const rows = names.length > 0 ? await membersNamed(tx, place.board.id, names) : [];
  const byName = new Map(rows.filter((row) => row.status === 'active').map((row) => [row.name, row]));
  const byRole = new Map<string, MemberRow[]>();
  for (const mention of found) {
    if (mention.form === 'role' && Object.hasOwn(roles, mention.name) && !byRole.has(mention.name)) {
      byRole.set(mention.name, await activeAgents(tx, place.board.id, { role: mention.name }));
    }
  }
  const recipients = new Set(addressing.recipients?.map((member) => member.id));
  return resolveMentions(found, {
    senderId: place.member.id,
    members: (name) => byName.get(name),
    roleAgents: (role) => byRole.get(role),
    mayRead: (id) => place.policy.visibility === 'open' || addressing.everyone || recipients.has(id),
  });
}

interface Decided {
  post: Post;
  parent: MessageRow | null;
  addressing: Addressing;
  mentions: Mention[];
}

async function write(tx: WriteTx, caller: Caller, place: Place, decided: Decided): Promise<Message> {
  const { board, member } = place;
  const { post, parent, addressing, mentions } = decided;
  const id = newId('msg', tx.now);
  // Keys in canonical order: the record then need not sort them.
  const data = {
    body: post.redacted.text,
    expects_reply: post.expects_reply,
    mentions,
    message_id: id,
    ...(addressing.recipients ? { recipients: addressing.recipients.map((recipient) => recipient.id) } : {}),
    redactions: post.redacted.counts,
    reply_to: parent?.id ?? null,
    to: addressing.to,
    urgent: post.urgent,
  };
  board.message_count += 1;
  board.everyone_count += addressing.everyone ? 1 : 0;
  member.sent_count += 1;
  member.sent_everyone_count += addressing.everyone ? 1 : 0;
  const event = await append(tx, board, {
    type: 'message.posted',
    actor: eventActor(member, caller.person.handle),
    data,
  });
  if (board.last_message_at === null || dayOf(board.last_message_at) < dayOf(event.at)) {
    await insertDay(tx, { board_id: board.id, day: dayOf(event.at), before: board.message_count - 1 });
  }
  board.last_message_at = event.at;
  const row: MessageRow = {
    id,
    board_id: board.id,
    seq: event.seq,
    at: event.at,
    sender_id: member.id,
    reply_to_seq: parent?.seq ?? null,
    root_seq: parent ? (parent.root_seq ?? parent.seq) : null,
    to_everyone: addressing.everyone ? 1 : 0,
    named: addressing.named.length > 0 ? addressing.named.join() : null,
    urgent: post.urgent ? 1 : 0,
    expects_reply: post.expects_reply ? 1 : 0,
    reply_count: 0,
    last_reply_at: null,
    last_reply_seq: null,
    reaction_count: 0,
    nth: board.message_count,
    nth_everyone: board.everyone_count,
    nth_of_sender: member.sent_count,
    nth_everyone_of_sender: member.sent_everyone_count,
  };
  await insertMessage(tx, row);
  await saveSent(tx, member);
  await insertNamed(tx, namedRows(row, addressing, mentions));
  if (parent && row.root_seq !== null) {
    await countReply(tx, row.root_seq, row);
    await clearRequest(tx, member.id, parent.seq);
  }
  caller.shown.message = id;
  return asSeenBySender(tx, caller, place, row, data, parent);
}

/** Whom the message names, with what follows for their inboxes and open requests. */
function namedRows(message: MessageRow, addressing: Addressing, mentions: Mention[]): NamedRow[] {
  const rows = new Map<string, NamedRow>();
  const base = { seq: message.seq, urgent: message.urgent };
  for (const recipient of addressing.recipients ?? []) {
    rows.set(recipient.id, {
      ...base,
      member_id: recipient.id,
      addressed: 1,
      mentioned: 0,
      wakes: 1,
      awaits: message.expects_reply,
    });
  }
  for (const mention of mentions) {
    const known = rows.get(mention.id);
    if (known) known.mentioned = 1;
    else {
      const wakes = mention.wakes && !addressing.everyone ? 1 : 0;
      rows.set(mention.id, { ...base, member_id: mention.id, addressed: 0, mentioned: 1, wakes, awaits: 0 });
    }
  }
  return [...rows.values()];
}

/** The new message as its sender reads it, from what is at hand; only the two ends of a reply are looked up. */
async function asSeenBySender(
  tx: WriteTx,
  caller: Caller,
  place: Place,
  row: MessageRow,
  data: PostedData,
  parent: MessageRow | null,
): Promise<Message> {
  const { member } = place;
  const ends = parent ? await endsOfReply(tx, parent) : null;
  const context = {
    sender_name: member.name,
    sender_kind: member.kind,
    sender_role: member.role,
    sender_harness: member.harness,
    sender_person_id: member.person_id,
    sender_handle: caller.person.handle,
    parent_id: parent?.id ?? null,
    parent_from: ends?.from ?? null,
    root_id: ends?.root ?? null,
  };
  return messageView(row, context, data, place);
}

async function endsOfReply(tx: WriteTx, parent: MessageRow): Promise<{ from: string; root: string }> {
  const author = await memberById(tx, parent.sender_id);
  const root = parent.root_seq === null ? parent : await messageBySeq(tx, parent.board_id, parent.root_seq);
  if (!author || !root) throw new Error(`message ${parent.id} has lost its author or its thread`);
  return { from: author.name, root: root.id };
}
