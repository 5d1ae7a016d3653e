/** Writes a post: the event, the message's row, and the rows of its parts. The caller has checked everything before. */
import type { Body, FileRef, Mention } from '../../contract/types.ts';
import { eventActor } from '../access/acting.ts';
import type { Place } from '../access/board-access.ts';
import type { Answering } from '../asks/asking.steps.ts';
import type { AskData, Asking, RedactedAsk } from '../asks/asks.rules.ts';
import { insertAsk, saveAnswer } from '../asks/asks.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { approveCited, keepCitations } from '../files/attach.steps.ts';
import { clearRequest, insertNamed, type NamedRow } from '../inbox/inbox.store.ts';
import type { MemberRow } from '../members/members.store.ts';
import { saveSent } from '../members/positions.store.ts';
import type { Caller } from '../operation/caller.ts';
import { noteMark } from '../pairing/marks.steps.ts';
import { append } from '../record/append.steps.ts';
import type { About } from '../tasks/about.steps.ts';
import { insertTags } from '../tasks/tags.store.ts';
import { newId } from '../text/ids.ts';
import type { Redacted } from '../text/redaction.ts';
import { timestampOrNull } from '../text/time.ts';
import type { Addressing } from './addressing.steps.ts';
import { type AgentRun, noRun } from './agent-run.rules.ts';
import { dayOf, insertDay } from './days.store.ts';
import { countReply, insertMessage, type MessageRow, type NewMessage } from './messages.store.ts';
import type { PostedData } from './posted.rules.ts';

type Sent = Body<'postMessage'>;

/** A post without secrets: those of its text, and those of what it asks. */
export interface Post {
  /** What holds no text. */
  sent: Omit<Sent, 'body' | 'ask'>;
  ask?: RedactedAsk;
  redacted: Redacted;
}

/** A post whose addressees, mentions and parts are decided. */
interface Decided {
  post: { redacted: Redacted; sent: Partial<Post['sent']> };
  parent: MessageRow | null;
  /** The run of agents in its thread, with it. */
  run: AgentRun;
  addressing: Addressing;
  mentions: Mention[];
  about: About[];
  files: FileRef[];
  asking: Asking | null;
  answering: Answering | null;
}

/** A message as it was written. */
export interface Written {
  row: MessageRow;
  data: PostedData;
}

/** Appends a post to its board, whose row is locked, and writes all that follows from it. */
export async function writePost(tx: WriteTx, { person }: Caller, place: Place, decided: Decided): Promise<Written> {
  const { board, member } = place;
  const { post, parent, run, addressing, mentions, about, files, asking, answering } = decided;
  const { expects_reply = false, urgent = false } = post.sent;
  const id = newId('msg', tx.now);
  const answers = answering !== null && !answering.withdrawn;
  const expectsReply = expects_reply || asking !== null;
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
    urgent,
  };
  board.message_count += 1;
  board.everyone_count += addressing.everyone ? 1 : 0;
  board.answer_count += answers ? 1 : 0;
  member.sent_count += 1;
  member.sent_everyone_count += addressing.everyone ? 1 : 0;
  const actor = eventActor(member, person.handle);
  const event = await append(tx, board, { type: 'message.posted', actor, data: { ...data } });
  if (board.last_message_at === null || dayOf(board.last_message_at) < dayOf(event.at)) {
    await insertDay(tx, { board_id: board.id, day: dayOf(event.at), before: board.message_count - 1 });
  }
  board.last_message_at = event.at;
  const message: NewMessage = {
    id,
    board_id: board.id,
    seq: event.seq,
    at: event.at,
    sender_id: member.id,
    reply_to_seq: parent?.seq ?? null,
    root_seq: parent ? (parent.root_seq ?? parent.seq) : null,
    to_everyone: addressing.everyone ? 1 : 0,
    named: addressing.namedBy === undefined && addressing.named.length > 0 ? addressing.named.join() : null,
    named_seq: addressing.namedBy ?? null,
    urgent: urgent ? 1 : 0,
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
    agent_run: run.agent_run,
    held: run.run_held_at === null ? 0 : 1,
  };
  await insertMessage(tx, message);
  const row: MessageRow = { ...noRun, ...message };
  await saveSent(tx, member);
  await insertNamed(tx, namedRows(row, addressing, mentions));
  await keepTags(tx, row, about);
  if (data.ask) await keepAsk(tx, row, data.ask);
  await keepCitations(tx, row, files);
  if (answering) await keepAnswer(tx, row, answering);
  if (parent && row.root_seq !== null) {
    await countReply(tx, row.root_seq, row, run);
    // What is asked is owed by the one asked, until anybody answers it or takes it back: a comment does neither.
    if (!post.sent.answer?.comment) await clearRequest(tx, answering?.ask.to_id ?? member.id, parent.seq);
  }
  if (answering && approves(member, answering)) {
    await approveCited({ tx, board, member, actor }, answering.ask.message_id);
  }
  await noteMark(tx, { row, text: data.body, recipients: data.recipients ?? null });
  return { row, data };
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
    withdrawn: 0,
  });

const keepAnswer = (tx: WriteTx, row: MessageRow, { ask, option, withdrawn }: Answering): Promise<number> =>
  saveAnswer(tx, ask.message_id, { answer_seq: row.seq, answer_option: option, withdrawn: withdrawn ? 1 : 0 });

/** Whom the message names, with what follows for their inboxes and open requests. */
function namedRows(message: MessageRow, addressing: Addressing, mentions: Mention[]): NamedRow[] {
  const rows = new Map<string, NamedRow>();
  const base = { seq: message.seq, urgent: message.urgent };
  for (const recipient of addressing.recipients ?? []) {
    const named = { member_id: recipient.id, addressed: 1, mentioned: 0, wakes: 1, awaits: message.expects_reply };
    rows.set(recipient.id, { ...base, ...named });
  }
  for (const mention of mentions) {
    const known = rows.get(mention.id);
    if (known) known.mentioned = 1;
    else {
      const wakes = mention.wakes ? (addressing.everyone ? 2 : 1) : 0;
      rows.set(mention.id, { ...base, member_id: mention.id, addressed: 0, mentioned: 1, wakes, awaits: 0 });
    }
  }
  return [...rows.values()];
}
