/** The message record, relative to its reader. */
import type { Message } from '../../contract/types.ts';
import type { Place, Reader } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import { type AgentRun, SHOWN_FROM } from '../messages/agent-run.rules.ts';
import {
  countReadableReplies,
  type MessageContext,
  type MessageRow,
  type MessageWithContext,
  messagesWithSeqs,
} from '../messages/messages.store.ts';
import { type PostedData, postedIn } from '../messages/posted.rules.ts';
import { reactionsTo } from '../messages/reactions.store.ts';
import { timestamp } from '../text/time.ts';
import { actorView } from './actors.ts';
import { type AskContext, askContext, askViews } from './ask.ts';
import { reactionGroups } from './reactions.ts';

/** The board they are on, and who reads them there. */
type On = Pick<Place, 'board' | 'reader'>;

/** Messages with what showing them needs, the same for all readers. */
export interface LoadedMessages {
  messages: { row: MessageWithContext; data: PostedData }[];
  reactions: ReadonlyMap<string, Awaited<ReturnType<typeof reactionsTo>>>;
  asks: AskContext;
}

/** Reads what these messages hold, with a fixed number of statements however many they and their readers are. */
export async function loadMessages(tx: ReadTx, rows: MessageWithContext[]): Promise<LoadedMessages> {
  const reacted = rows.filter((row) => row.reaction_count > 0).map((row) => row.id);
  const messages = rows.map((row) => ({ row, data: postedIn(row) }));
  return {
    messages,
    reactions: Map.groupBy(await reactionsTo(tx, reacted), (row) => row.message_id),
    asks: await askContext(tx, messages),
  };
}

/** Shows loaded messages, all readable to the reader; a statement more only where it may not read every reply. */
export async function showMessages(tx: ReadTx, place: On, { messages, reactions, asks: context }: LoadedMessages) {
  const rows = messages.map(({ row }) => row);
  const replies = await readableReplyCounts(tx, place, rows);
  const asks = askViews(context, tx.now, place, messages);
  return messages.map(({ row, data }) => ({
    ...messageView(row, row, data, place, replies.get(row.seq)),
    ...asks.get(row.id),
    reactions: reactionGroups(reactions.get(row.id) ?? [], place.reader),
  }));
}

/** Composes messages, all readable to the reader, with a fixed number of further statements however many they are. */
export const messageViews = async (tx: ReadTx, place: On, rows: MessageWithContext[]): Promise<Message[]> =>
  showMessages(tx, place, await loadMessages(tx, rows));

/** The messages of a board with these numbers, oldest first; all readable to the reader. */
export const messagesAt = async (tx: ReadTx, place: On, seqs: number[]): Promise<Message[]> =>
  messageViews(tx, place, await messagesWithSeqs(tx, place.board.id, seqs));

/** The same for one of them. */
export const messageAt = async (tx: ReadTx, place: On, seq: number): Promise<Message> =>
  (await messagesAt(tx, place, [seq]))[0]!;

interface Replies {
  count: number;
  lastAt: number;
}

async function readableReplyCounts(tx: ReadTx, { board, reader }: On, rows: MessageWithContext[]) {
  const started = rows.filter((row) => row.reply_count > 0);
  if (reader.readsAll || started.length === 0)
    return new Map(started.map((row) => [row.seq, { count: row.reply_count, lastAt: row.last_reply_at ?? row.at }]));
  const seqs = started.map((row) => row.seq);
  const counts = await countReadableReplies(tx, board.id, seqs, reader);
  return new Map(counts.map((row) => [row.root_seq, { count: Number(row.count), lastAt: Number(row.last_at) }]));
}

/** One message; `data` is what its event holds, parsed. */
export function messageView(
  row: MessageRow,
  context: MessageContext,
  data: PostedData,
  { board, reader }: On,
  replies?: Replies,
): Message {
  return {
    id: row.id,
    board: board.name,
    seq: row.seq,
    at: timestamp(row.at),
    from: actorView(senderOf(row.sender_id, context), reader),
    to: data.to,
    body: data.body,
    reply_to: context.parent_id,
    reply_to_seq: row.reply_to_seq,
    reply_to_from: context.parent_from,
    thread_root: context.root_id,
    thread_root_seq: row.root_seq,
    ...(replies && replies.count > 0 ? { reply_count: replies.count, last_reply_at: timestamp(replies.lastAt) } : {}),
    urgent: row.urgent === 1,
    expects_reply: row.expects_reply === 1,
    ...relation(row.sender_id, context, reader),
    show_owner: board.show_owner === 1,
    redactions: data.redactions,
    reactions: [],
    mentions: data.mentions,
    about: (data.about ?? []).map(({ id, ref, how }) => ({ id, ref, how })),
    files: (data.files ?? []).map(({ id, name, version, digest }) => ({ id, name, version, digest })),
    ...(row.agent_run >= SHOWN_FROM ? { agent_run: row.agent_run } : {}),
    ...threadState(row),
    ...(row.held === 1 ? { held: true, reason: 'agent_run' } : {}),
  };
}

/** On a thread's first message: what agents' posts in it come to. */
function threadState({ run_stopped, run_held_at }: AgentRun): Pick<Message, 'thread'> {
  if (run_stopped === 1) return { thread: 'stopped' };
  return run_held_at === null ? {} : { thread: 'held' };
}

const senderOf = (id: string, context: MessageContext) => ({
  id,
  name: context.sender_name,
  kind: context.sender_kind,
  role: context.sender_role,
  harness: context.sender_harness,
  handle: context.sender_handle,
});

type Relation = Pick<Message, 'sender' | 'trust'>;

/** How the sender stands to the reader, compared by permanent ids. */
export function relation(
  senderId: string,
  { sender_kind, sender_person_id }: Pick<MessageContext, 'sender_kind' | 'sender_person_id'>,
  reader: Reader,
): Relation {
  if (senderId === reader.memberId) return { sender: 'self', trust: 'self' };
  const same = sender_person_id === reader.personId;
  if (sender_kind === 'human')
    return same ? { sender: 'owner', trust: 'owner' } : { sender: 'other_person', trust: 'human' };
  return { sender: same ? 'owner_agent' : 'other_agent', trust: 'peer' };
}
