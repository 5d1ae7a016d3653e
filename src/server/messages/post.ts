/** Posting a message. */
import { Refusal } from '../../contract/errors.ts';
import { codePoints } from '../../contract/schemas/common.ts';
import { MAX_BODY } from '../../contract/schemas/messages.ts';
import type { Body, FileRef, Mention, Message, Role } from '../../contract/types.ts';
import { type Answering, type Asking, addressAnswer, addressAsk, readAnswer, readAsk } from '../asks/asking.steps.ts';
import type { AskData } from '../asks/asks.rules.ts';
import { insertAsk, saveAnswer } from '../asks/asks.store.ts';
import { redactAsk, sumCounts } from '../asks/redact.rules.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { requirePermission, requirePostingRights } from '../boards/policy.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import { approveCited, filesToCite, keepCitations } from '../files/attach.steps.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { append } from '../record/append.ts';
import { activeAgents, type MemberRow, memberById, membersNamed } from '../seats/members.store.ts';
import { saveSent } from '../seats/positions.store.ts';
import { type About, aboutOf } from '../tasks/about.steps.ts';
import { insertTags } from '../tasks/tags.store.ts';
import { newId } from '../text/ids.ts';
import { type Redacted, redact } from '../text/redaction.ts';
import { timestampOrNull } from '../text/time.ts';
import { eventActor } from '../views/actors.ts';
import { askContext, askViews } from '../views/ask.ts';
import { mayRead, messageNotFound, messageView, type PostedData } from '../views/message.ts';
import { lockPlace, type Place, requireActive } from '../views/place.ts';
import { type Addressing, addressThread, addressTo, toEveryone } from './addressing.steps.ts';
import { dayOf, insertDay } from './days.store.ts';
import { clearRequest, insertNamed, type NamedRow } from './inbox.store.ts';
import { findMentions, resolveMentions } from './mentions.rules.ts';
import { countReply, insertMessage, type MessageRow, messageById, messageBySeq } from './messages.store.ts';

/** A post without secrets: those of its text, and those of what it asks. */
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
    const { ask, counts } = rest.ask ? redactAsk(rest.ask) : { ask: undefined, counts: [] };
    const redacted = redact(text);
    return { ...rest, ask, redacted: { ...redacted, counts: sumCounts([...redacted.counts, ...counts]) } };
  },

  async run(tx, caller, { params, body }) {
    const place = await lockPlace(tx, caller, params['board'] ?? '');
    requireActive(place.board);
    const roles = parseRoles(place.board);
    const role = place.member.kind === 'agent' ? roles[place.member.role ?? ''] : undefined;
    if (place.member.kind === 'agent') requirePermission(role, 'post');

    const parent = body.reply_to === undefined ? null : await readableParent(tx, place, body.reply_to);
    const asking = body.ask ? readAsk(body.ask, body, tx.now) : null;
    const answering = await readAnswer(tx, place.member, parent, body.answer);
    const addressing = await address(tx, place, roles, { to: body.to, parent, asking, answering });
    if (place.member.kind === 'agent') {
      requirePostingRights(place.policy, role, { everyone: addressing.everyone, urgent: body.urgent });
    }
    const about = await aboutOf(tx, {
      boardId: place.board.id,
      sender: place.member,
      given: body.about,
      parentId: parent?.id,
      text: body.redacted.text,
    });
    const files = await filesToCite(tx, place.board.id, body.files);
    const mentions = await mentionsIn(tx, place, roles, body.redacted.text, addressing);
    const answer = await write(tx, caller, place, {
      post: body,
      parent,
      addressing,
      mentions,
      about,
      files,
      asking,
      answering,
    });
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

/** What decides to whom a post goes. */
interface Sending {
  to: string[] | undefined;
  parent: MessageRow | null;
  asking: Asking | null;
  answering: Answering | null;
}

function address(
  tx: WriteTx,
  place: Place,
  roles: Record<string, Role>,
  { to, parent, asking, answering }: Sending,
): Promise<Addressing> {
  const from = { boardId: place.board.id, sender: place.member, readsAll: place.reader.readsAll, roles };
  if (asking) return addressAsk(tx, from, to, asking);
  if (answering && parent) return addressAnswer(tx, from, to, parent.root_seq ?? parent.seq, answering);
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
  about: About[];
  files: FileRef[];
  asking: Asking | null;
  answering: Answering | null;
}

async function write(tx: WriteTx, caller: Caller, place: Place, decided: Decided): Promise<Message> {
  const { board, member } = place;
  const { post, parent, addressing, mentions, about, files, asking, answering } = decided;
  const id = newId('msg', tx.now);
  const answers = answering !== null && !answering.withdrawn;
  const expectsReply = post.expects_reply || asking !== null;
  // Keys in canonical order: the record then need not sort them.
  const data: PostedData = {
    ...(about.length > 0 ? { about } : {}),
    ...(answering ? { answer: answerData(answering) } : {}),
    ...(asking ? { ask: askData(asking, addressing, about) } : {}),
    body: post.redacted.text,
    expects_reply: expectsReply,
    ...(files.length > 0 ? { files } : {}),
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
  board.answer_count += answers ? 1 : 0;
  member.sent_count += 1;
  member.sent_everyone_count += addressing.everyone ? 1 : 0;
  const event = await append(tx, board, {
    type: 'message.posted',
    actor: eventActor(member, caller.person.handle),
    data: { ...data },
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
    expects_reply: expectsReply ? 1 : 0,
    answer_to: answering?.ask.message_id ?? null,
    answers: answers ? 1 : 0,
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
  await keepTags(tx, row, about);
  if (data.ask) await keepAsk(tx, row, data.ask);
  await keepCitations(tx, row, files);
  if (answering) await keepAnswer(tx, row, answering);
  if (parent && row.root_seq !== null) {
    await countReply(tx, row.root_seq, row);
    await clearRequest(tx, member.id, parent.seq);
  }
  if (answering && approves(member, answering)) {
    const actor = eventActor(member, caller.person.handle);
    await approveCited({ tx, board, member, actor }, answering.ask.message_id);
  }
  caller.shown.message = id;
  return asSeenBySender(tx, caller, place, row, data, parent);
}

/** The first option means approve, and only the one who was asked can say it. */
const approves = (member: MemberRow, { ask, option }: Answering): boolean => option === 1 && member.id === ask.to_id;

/** What is asked, as the record keeps it. The ask is about the first task that was not just named in its text. */
function askData(
  { approval, options, goingWith, goingAt }: Asking,
  { recipients }: Addressing,
  about: About[],
): AskData {
  return {
    ...(approval ? { approval } : {}),
    blocking: goingWith === null,
    going_at: timestampOrNull(goingAt),
    going_with: goingWith,
    options,
    task_id: about.find((task) => task.how !== 'named')?.id ?? null,
    to: recipients?.[0]?.id ?? '',
  };
}

const answerData = ({ ask, option, withdrawn }: Answering) => ({ ask_id: ask.message_id, option, withdrawn });

const keepTags = (tx: WriteTx, row: MessageRow, about: About[]): Promise<number> =>
  insertTags(
    tx,
    about.map(({ id, how }, n) => ({
      message_id: row.id,
      task_id: id,
      board_id: row.board_id,
      seq: row.seq,
      thread_seq: row.root_seq ?? row.seq,
      how,
      n,
    })),
  );

const keepAsk = (tx: WriteTx, row: MessageRow, ask: AskData): Promise<number> =>
  insertAsk(tx, {
    message_id: row.id,
    board_id: row.board_id,
    seq: row.seq,
    at: row.at,
    from_id: row.sender_id,
    to_id: ask.to,
    task_id: ask.task_id,
    blocking: ask.blocking ? 1 : 0,
    going_at: ask.going_at === null ? null : Date.parse(ask.going_at),
    answer_seq: null,
    answer_option: null,
    withdrawn: 0,
  });

const keepAnswer = (tx: WriteTx, row: MessageRow, { ask, option, withdrawn }: Answering): Promise<number> =>
  saveAnswer(tx, ask.message_id, { answer_seq: row.seq, answer_option: option, withdrawn: withdrawn ? 1 : 0 });

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
  const shown = [{ row, data }];
  const extras = askViews(await askContext(tx, [place.reader], shown), tx.now, place, shown);
  return { ...messageView(row, context, data, place), ...extras.get(row.id) };
}

async function endsOfReply(tx: WriteTx, parent: MessageRow): Promise<{ from: string; root: string }> {
  const author = await memberById(tx, parent.sender_id);
  const root = parent.root_seq === null ? parent : await messageBySeq(tx, parent.board_id, parent.root_seq);
  if (!author || !root) throw new Error(`message ${parent.id} has lost its author or its thread`);
  return { from: author.name, root: root.id };
}
