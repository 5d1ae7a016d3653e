/** Verbs of commands that read an inbox themselves, so that no message is delivered twice. */
import { ControlRefusal } from '../control/errors.ts';
import { HOLD_TIMEOUT_MS } from '../control/limits.ts';
import type { Peer } from '../control/peer.ts';
import { unconfirmedSeqs } from '../handoff/flight.ts';
import { queuedIn } from '../handoff/queued.ts';
import { checkReceipt } from '../handoff/receipt.ts';
import { follow } from '../inbox/cursor.ts';
import type { Answers, FollowUps, LaterFrame, Openings, Requests } from '../protocol.ts';
import type { Hold, Seat } from '../sessions/session.ts';
import type { Context } from './context.ts';
import { isSameAgent, resolveSeat } from './sessions.ts';

/** A command reads an inbox: until the connection closes, no messages of the seat are delivered or announced. */
export function inbox(context: Context, frame: Openings['inbox'], peer: Peer): void {
  const seat = context.seats.of(resolveSeat(context, frame.agent));
  if (!seat) return void peer.send({ held: false });
  if (!frame.peek) recordCommand(context, seat, frame);
  addHold(context, seat, {}, peer);
  const { session } = seat;
  peer.send({
    held: true,
    received: [...seat.received.values()].sort((a, b) => a - b),
    handed: unconfirmedSeqs(context.journal, seat),
    generation: seat.row.generation,
    ...(session ? { boot: session.row.boot } : {}),
  });
}

/** A command waits for a reply to one message: until the connection closes, the reply is not delivered. */
export function hold(context: Context, frame: Openings['hold'], peer: Peer): void {
  const seat = context.seats.of(resolveSeat(context, frame.agent));
  if (!seat) return void peer.send({ held: false });
  recordCommand(context, seat, frame);
  addHold(context, seat, { replyTo: frame.reply_to }, peer);
  peer.onFrame = (later: LaterFrame) => {
    if (later.op !== 'claim') return;
    void claim(context, seat, later).then(
      (claimed) => peer.send({ claimed }),
      () => peer.refuse({ code: 'internal', message: 'What was shown could not be noted.', hint: 'service doctor' }),
    );
  };
  peer.send({ held: true });
}

/** Records messages that the command showed as received, if they are in the seat's inbox. */
async function claim(context: Context, seat: Seat, { seqs }: FollowUps['claim']): Promise<number[]> {
  const server = context.servers.at(seat.row.origin);
  // No open session may hold it.
  server.watch(seat.identity, seat.row.problem);
  try {
    const read = await server.read(seat.row, { timeoutMs: 1_500 });
    const shown = read.inbox.messages.filter(({ seq }) => seqs.includes(seq));
    const { origin, member_id } = seat.row;
    context.journal.saveReceived(
      shown.map(({ id, seq }) => ({ origin, member_id, message_id: id, seq, via: 'claim' as const })),
      context.clock.now(),
    );
    for (const { id, seq } of shown) seat.received.set(id, seq);
    context.acks.schedule(seat);
    return shown.map(({ seq }) => seq);
  } finally {
    follow(context, seat);
  }
}

function addHold(context: Context, seat: Seat, added: Hold, peer: Peer): void {
  seat.holds.add(added);
  const cancel = context.clock.after(HOLD_TIMEOUT_MS, () => peer.close());
  peer.onClose(() => {
    cancel();
    seat.holds.delete(added);
    if (seat.session) context.events.emit('deliverable', seat.session);
  });
}

/** A command of the seat's own session proves that the session continued. */
function recordCommand(context: Context, seat: Seat, frame: Openings['inbox'] | Openings['hold']): void {
  const { session } = seat;
  if (!session || frame.subagent || frame.harness === undefined || frame.session === undefined) return;
  const own = session.row.harness === frame.harness && session.row.session_id === frame.session;
  if (!own || (frame.boot !== undefined && frame.boot !== session.row.boot)) return;
  checkReceipt(context, session, { kind: 'command', startedUs: frame.started || context.clock.nowUs() });
}

/** The messages in the program's own queue. */
export function queued(context: Context, frame: Requests['queued']): Answers['queued'] {
  const session = context.sessions.require(frame);
  if (frame.boot !== session.row.boot) throw unverified('This is not the session that the queue belongs to.');
  const asked = queuedIn(context, session).filter(({ origin }) => (frame.server ?? origin) === origin);
  return {
    queued: asked.map(({ origin, member_id, message_id, seq }) => {
      const { board_id, board } = context.seats.of({ origin, member_id })!.row;
      return { server: origin, board_id, member_id, board, message_id, seq, boundary: 'turn_end' };
    }),
  };
}

/** Records messages that a command showed in full: they are not delivered in this boot, but not acknowledged either. */
export async function shown(context: Context, frame: Requests['shown']): Promise<Answers['shown']> {
  const session = context.sessions.require(frame);
  const seat = [...session.seats].find((one) => isSameAgent(context, one.ref, frame.agent));
  const { boot } = session.row;
  if (!seat || frame.subagent || frame.boot !== boot || frame.generation !== seat.row.generation)
    return { shown: false };
  const { row } = seat;
  if (!seat.latest) {
    const read = context.servers.at(row.origin).read(row, { timeoutMs: 1_500 });
    await read.catch(() => {
      throw unverified('What waits for this seat could not be read.');
    });
  }
  const waiting = new Map(seat.latest?.inbox.messages.map(({ id, seq }) => [id, seq]));
  // Messages that are not waiting are ignored; a message of another seat makes the whole request fail.
  const own = frame.messages.every(
    ({ board_id, member_id }) => board_id === row.board_id && member_id === row.member_id,
  );
  const numbered = frame.messages.every(
    ({ message_id, seq }) => !waiting.has(message_id) || waiting.get(message_id) === seq,
  );
  if (!own || !numbered || seat.row.generation !== frame.generation || session.row.boot !== boot)
    return { shown: false };
  const waitingMessages = frame.messages.filter(({ message_id }) => waiting.has(message_id));
  context.journal.saveShown(row, row.generation, boot, waitingMessages);
  return { shown: true };
}

const unverified = (message: string): ControlRefusal =>
  new ControlRefusal('queue_unknown', message, { hint: 'service inbox --peek' });
