/** Stops the daemon from delivering messages to a seat while a command shows them. */
import { askFor, connectHere, headerOf, refOf } from '../../../cli/session/ask-daemon.ts';
import { here, sessionHere } from '../../../cli/session/here.ts';
import { nextFrame } from '../../../daemon/control/ask.ts';
import type { Connection } from '../../../daemon/control/connection.ts';
import { SHOWN_MESSAGES } from '../../../daemon/control/limits.ts';
import type { Seat } from '../../../local/actors.ts';

const ANSWER_MS = 2_000;

/** Keeps replies to a message out of what the daemon hands, where one runs. @returns `claim` says which were shown */
export async function holdReplies(seat: Seat, messageId: string) {
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
    claim: async (seqs: number[]) => {
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

/** Tells the daemon what a session has read for itself, so that it is not handed in this boot as well. */
export async function tellShown(seat: Seat, messages: readonly { id: string; seq: number }[]): Promise<void> {
  const session = sessionHere();
  if (!session || here().subagent || messages.length === 0) return;
  try {
    const { boot, seats = [] } = await askFor(session, 'agents', {}, { start: false });
    const held = seats.find(({ member_id: id }) => id === seat.memberId);
    if (!held || (session.boot !== null && session.boot !== boot)) return;
    const { memberId: member_id, saved } = seat;
    const shown = messages
      .slice(-SHOWN_MESSAGES)
      .map(({ id, seq }) => ({ board_id: saved.board_id, member_id, message_id: id, seq }));
    const known = { ...session, boot };
    await askFor(
      known,
      'shown',
      { generation: held.generation ?? 0, agent: refOf(seat), messages: shown },
      { start: false },
    );
  } catch {
    // Then it is handed although it was read: once more, and not lost.
  }
}

/** One per seat; the end of this program ends them all. */
const held = new Map<string, Connection>();

/** Numbers of the seat's messages that its session was given, whether it has shown that it received them or not. */
export async function deliveredTo(seat: Seat): Promise<ReadonlySet<number>> {
  let connection: Connection | null = null;
  try {
    connection = await connectHere({ start: false });
    await connection.send({ op: 'inbox', agent: refOf(seat), peek: true });
    const { received = [], handed = [] } = (await nextFrame(connection, ANSWER_MS)) ?? {};
    return new Set([...(received as number[]), ...(handed as number[])]);
  } catch {
    // Without a daemon nothing is delivered.
    return new Set();
  } finally {
    connection?.close();
  }
}

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
