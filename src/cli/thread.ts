/** Threads: a first message and what was replied to it. */
import { waitFor } from '../client/wait.ts';
import type { Answer, Message } from '../contract/types.ts';
import type { BoardSession } from './base.ts';
import { findMessage } from './messages/references.ts';
import { type MessageStyle, messageText } from './print/message.ts';
import { called } from './runtime.ts';

export interface ThreadRecord {
  thread_root_seq: number | null;
  root: Message | null;
  replies: Message[];
  next_after: number | null;
  timed_out?: boolean;
}

/** The thread of a message, after waiting for a reply if that was asked for. */
export async function readThread(
  { client, board }: BoardSession,
  reference: string,
  options: { wait?: number | undefined; after?: number | undefined; limit?: number | undefined },
): Promise<ThreadRecord> {
  const message = reference.startsWith('msg_') ? reference : (await findMessage(client, board, reference)).id;
  const input = { params: { message }, query: { after: options.after, limit: options.limit } };
  if (options.wait === undefined) return record((await client.call('listReplies', input)).data);
  const { reply, timedOut } = await waitFor(client, 'listReplies', input, { waitSeconds: options.wait });
  return { ...record(reply.data), timed_out: timedOut };
}

/** Its first message and every reply from this page on, to the end of the thread unless a number of them was asked for. */
export async function* wholeThread(
  session: BoardSession,
  reference: string,
  first: ThreadRecord,
  { after, limit }: { after?: number | undefined; limit?: number | undefined },
): AsyncGenerator<Message> {
  if (first.root && after === undefined) yield first.root;
  let page = first;
  for (;;) {
    yield* page.replies;
    if (limit !== undefined || page.next_after === null) return;
    page = await readThread(session, reference, { after: page.next_after });
  }
}

/** A thread as text. */
export function threadText(
  board: string,
  { root, replies, next_after: next, timed_out }: ThreadRecord,
  style: MessageStyle,
  stay: string,
): string {
  const count = `${replies.length} ${replies.length === 1 ? 'reply' : 'replies'}`;
  return [
    `${style.markdown ? '## ' : ''}${board} · ${root ? `thread of #${root.seq} · ` : ''}${count}`,
    ...(root ? [messageText(root, style)] : []),
    ...replies.map((reply) => messageText(reply, style)),
    timed_out ? 'No reply in that time.' : '',
    next === null
      ? ''
      : called(`Later: service board thread ${root?.seq ?? replies[0]?.seq ?? ''} --after ${next}${stay}`),
  ]
    .filter(Boolean)
    .join('\n');
}

function record({ root, replies, next_after }: Answer<'listReplies'>): ThreadRecord {
  return { thread_root_seq: root?.seq ?? replies[0]?.thread_root_seq ?? null, root, replies, next_after };
}
