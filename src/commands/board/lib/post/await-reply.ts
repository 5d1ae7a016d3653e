/** Waits for the reply to a message that was just posted. */
import { failedAfter } from '../../../../cli/errors.ts';
import type { Output } from '../../../../cli/output.ts';
import { called } from '../../../../cli/runtime.ts';
import { type BoardSession, staying } from '../../../../cli/session/open-session.ts';
import { boardStream } from '../../../../client/board-stream.ts';
import { untilAnswered } from '../../../../client/streams.ts';
import { waitFor } from '../../../../client/wait.ts';
import type { Message } from '../../../../contract/types.ts';
import { messageText } from '../read/message-text.ts';

interface WaitedReply {
  outcome: 'reply' | 'owner_message' | 'timeout';
  reply: Message | null;
  owner_messages: Message[];
  timed_out: boolean;
}

/** A reply ends the wait; so does a message of the agent's own person. Running out of time is no error. */
export async function awaitReply(session: BoardSession, message: Message, seconds: number): Promise<WaitedReply> {
  const stop = new AbortController();
  const waits = [replies(session, message, seconds, stop.signal)];
  if (session.agent) waits.push(ownerMessages(session, message, stop.signal));
  try {
    return await Promise.race(waits);
  } finally {
    stop.abort();
    // The wait that lost ends by its signal; nobody is left to hear of it.
    for (const wait of waits) wait.catch(() => {});
  }
}

/** Of what failed after it: the message is posted, and is not to be posted again. */
export const failedAfterPost =
  ({ id, board, seq }: Message) =>
  (error: unknown): never => {
    throw failedAfter(error, `#${seq} was posted.`, { posted: { id, board, seq } });
  };

/** What goes on with the wait for a reply to a message. */
export const waitingOn = ({ seq }: Message, session: BoardSession): string =>
  called(`To wait on: service board thread ${seq} --after ${seq} --wait 600${staying(session)}`);

/** What came, as text. */
export function replyText(
  result: WaitedReply,
  message: Message,
  seconds: number,
  at: { session: BoardSession; out: Output },
): string {
  const { session, out } = at;
  const came = result.reply ? [result.reply] : result.owner_messages;
  const said = came.map((one) => messageText(one, { paint: out.paint, times: 'relative', agent: session.agent }));
  if (result.reply) return said.join('\n');
  const why = result.timed_out ? `No reply within ${seconds} s.` : 'Your person wrote; there is no reply yet.';
  return [...said, `${why} ${waitingOn(message, session)}`].join('\n');
}

async function replies(
  { client, agent }: BoardSession,
  message: Message,
  seconds: number,
  signal: AbortSignal,
): Promise<WaitedReply> {
  const input = { params: { message: message.id }, query: { after: message.seq }, signal };
  // Own replies are no answer.
  const until = (page: { replies: Message[] }) => page.replies.some((reply) => reply.sender !== 'self');
  const { reply: page } = await waitFor(client, 'listReplies', input, { waitSeconds: seconds, until });
  const reply = page.data.replies.find((found) => found.sender !== 'self') ?? null;
  if (!reply) return { outcome: 'timeout', reply: null, owner_messages: [], timed_out: true };
  const owner = agent && reply.sender === 'owner';
  return { outcome: 'reply', reply, owner_messages: owner ? [reply] : [], timed_out: false };
}

/**
 * Ends when the agent's person writes to it outside of the thread, until the other wait has ended. Follows the stream of the
 * board: waiting reads of the inbox, which acknowledge nothing here, would brake the agent because of what other agents post.
 */
async function ownerMessages(
  { client, board }: BoardSession,
  message: Message,
  signal: AbortSignal,
): Promise<WaitedReply> {
  // What is in the thread is a reply, which the other wait hears too.
  const thread = message.thread_root ?? message.id;
  const frames = boardStream(client, { board, after: message.seq, signal, firstAttempts: Number.POSITIVE_INFINITY });
  for await (const { event, data } of frames) {
    if (event !== 'event' || data.type !== 'message.posted' || data.actor?.kind !== 'human') continue;
    // Only the inbox tells whether the message is for the agent.
    const query = { after: data.seq - 1 };
    const read = await untilAnswered(client, { signal }, () =>
      client.call('readInbox', { query, maxAttempts: 1, timeoutMs: 0, signal }),
    );
    const found = read.data.messages.filter((one) => one.sender === 'owner' && one.thread_root !== thread);
    if (found.length > 0) return { outcome: 'owner_message', reply: null, owner_messages: found, timed_out: false };
  }
  throw signal.reason;
}
