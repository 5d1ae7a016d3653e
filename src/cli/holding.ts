/** While a command shows an agent its messages, the daemon hands none of that seat; what it has handed already is told. */
import { nextFrame } from '../daemon/control/ask.ts';
import type { Connection } from '../daemon/control/connection.ts';
import type { Seat } from '../local/actors.ts';
import { connectHere, headerOf, refOf } from './ask-daemon.ts';
import { sessionHere } from './here.ts';

const ANSWER_MS = 2_000;

/** Leaves replies to a message to the command that waits for them; `claim` says which it has shown. */
export interface ReplyHold {
  claim(seqs: number[]): Promise<void>;
  release(): void;
}

/** Keeps replies out of what the daemon hands, where one runs. */
export async function holdReplies(seat: Seat, messageId: string): Promise<ReplyHold> {
  let connection: Connection | null = null;
  try {
    connection = await connectHere({ start: false });
    const session = sessionHere();
    await connection.send({
      op: 'hold',
      ...(session ? headerOf(session) : {}),
      agent: refOf(seat),
      reply_to: messageId,
    });
    await nextFrame(connection, ANSWER_MS);
  } catch {
    // Without a daemon nobody else hands them.
  }
  return {
    claim: async (seqs) => {
      if (!connection || seqs.length === 0) return;
      try {
        await connection.send({ op: 'claim', seqs });
        await nextFrame(connection, ANSWER_MS);
      } catch {
        // What could not be noted may come once more.
      }
    },
    release: () => connection?.close(),
  };
}

/** One per seat; the end of this program ends them all. */
const held = new Map<string, Connection>();

/** Holds the seat's deliveries until it is read again or this program ends. @returns numbers of messages that the session has received */
export async function holdInbox(seat: Seat, peek: boolean): Promise<ReadonlySet<number>> {
  held.get(seat.memberId)?.close();
  held.delete(seat.memberId);
  try {
    const connection = await connectHere({ start: false });
    held.set(seat.memberId, connection);
    const session = sessionHere();
    await connection.send({ op: 'inbox', ...(session ? headerOf(session) : {}), agent: refOf(seat), peek });
    const answer = await nextFrame(connection, ANSWER_MS);
    return new Set((answer?.received as number[] | undefined) ?? []);
  } catch {
    // Without a daemon nothing else hands them.
    return new Set();
  }
}
