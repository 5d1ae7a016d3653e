/** While a command shows an agent its messages, the daemon hands none of that seat; what it has handed already is told. */
import { nextFrame } from '../daemon/control/ask.ts';
import type { Connection } from '../daemon/control/connection.ts';
import type { Seat } from '../local/actors.ts';
import { connectHere, headerOf, refOf } from './ask-daemon.ts';
import { sessionHere } from './here.ts';

const ANSWER_MS = 2_000;

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
