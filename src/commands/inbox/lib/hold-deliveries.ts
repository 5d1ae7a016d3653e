/** Stops the daemon from delivering messages to a seat while a command shows them. */
import { askFor, connectHere, daemonOptions, headerOf, refOf } from '../../../cli/session/ask-daemon.ts';
import { here, sessionHere } from '../../../cli/session/here.ts';
import { nextFrame } from '../../../daemon/control/ask.ts';
import { connectDaemon } from '../../../daemon/control/client.ts';
import type { Connection, Frame } from '../../../daemon/control/connection.ts';
import { Hold } from '../../../daemon/control/hold.ts';
import { SHOWN_MESSAGES } from '../../../daemon/control/limits.ts';
import type { Seat } from '../../../local/actors.ts';

const ANSWER_MS = 2_000;

/**
 * Runs a command's wait for replies to a message. Meanwhile the daemon, where one runs, hands none of them, and afterwards
 * none of those that were shown.
 */
export async function showReplies<T>(
  seat: Seat | null,
  messageId: string,
  show: () => Promise<T>,
  shown: (result: T) => readonly { seq: number }[],
): Promise<T> {
  if (!seat) return show();
  const hold = holdOf({ op: 'hold', agent: refOf(seat), reply_to: messageId });
  await hold.take(sessionHeader());
  try {
    const result = await show();
    const seqs = [...new Set(shown(result).map(({ seq }) => seq))];
    // What could not be noted may come once more.
    if (seqs.length > 0) await hold.ask({ op: 'claim', seqs });
    return result;
  } finally {
    hold.end();
  }
}

const holdOf = (frame: Frame): Hold =>
  new Hold({ connect: () => connectDaemon(daemonOptions({ start: false })), frame });

function sessionHeader(): Frame {
  const session = sessionHere();
  return session ? { ...headerOf(session) } : {};
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
const holds = new Map<string, Hold>();

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

/**
 * Holds the seat's deliveries until it is read again or this program ends. @returns numbers of messages that the session has:
 * those it received, and for a wait that leaves messages unread those on their way to it too, as one of them may have woken it
 */
export async function holdInbox(
  seat: Seat,
  { peek = false, wait }: { peek?: boolean; wait?: number | undefined },
): Promise<ReadonlySet<number>> {
  const hold = holdOf({ op: 'inbox', agent: refOf(seat), peek });
  const { received = [], handed = [] } = (await hold.take(sessionHeader())) ?? {};
  holds.get(seat.memberId)?.end();
  holds.set(seat.memberId, hold);
  return new Set([...(received as number[]), ...(peek && wait !== undefined ? (handed as number[]) : [])]);
}
