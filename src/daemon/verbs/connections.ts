/** Verbs of connections that stay open: waiting hooks, doors and extensions. */
import type { Peer } from '../control/peer.ts';
import { applyEffects, backToPending, revive } from '../handoff/flight.ts';
import { awaitTold } from '../handoff/hand-to-hook.ts';
import { noEffects } from '../handoff/own-lines.ts';
import { attemptFailed, postpone, retryAttention } from '../handoff/queue.ts';
import { checkReceipt, confirm } from '../handoff/receipt.ts';
import { logIfJournalError, writeOrLog } from '../journal/journal.ts';
import type { HandoffId, LaterFrame, Openings } from '../protocol.ts';
import { agentRefOf } from '../refs.ts';
import { goneLines, lostBy } from '../sessions/gone.ts';
import { closeUnlessReconnected } from '../sessions/liveness.ts';
import type { InFlightHandoff, Session } from '../sessions/session.ts';
import { isSameProcess } from '../sessions/sessions.ts';
import type { Context } from './context.ts';
import { useTicket } from './launch.ts';
import { refuseSubagent, seatsOf, welcome } from './sessions.ts';
import { needsPerson, turnEnded, turnStarted } from './turns.ts';

/** How long a reconnected waiting hook waits for the session's door to reconnect too. */
const DOOR_WAIT_US = 1_000_000;

/** A stop hook starts to wait; its open connection means that the session is idle. */
export function wait(context: Context, frame: Openings['wait'], peer: Peer): void {
  const session = wasReplaced(context, frame) ? null : context.sessions.forEvent(frame);
  const startedUs = frame.started || context.clock.nowUs();
  // The hook started before the last prompt or tool call, so a turn is still running.
  const late = session !== null && startedUs < session.activityUs;
  if (!session || late) {
    peer.sendEvent({ event: 'waiting', turn_id: session?.row.turn_id ?? 0 });
    peer.sendEvent({ event: 'release' });
    peer.close();
    return;
  }
  if (!frame.resumed) checkReceipt(context, session, { kind: 'wait', startedUs });
  else returnUnaccepted(context, session);
  context.sessions.release(session, 'waiting');
  const waiting = { peer };
  session.waiting = waiting;
  session.readyUs = context.clock.nowUs();
  // After a crash the session's door reconnects as well.
  if (frame.resumed && context.adapters.of(frame.harness).capabilities.has('owner-door'))
    session.notBeforeUs = Math.max(session.notBeforeUs, context.clock.nowUs() + DOOR_WAIT_US);
  session.continuations = 0;
  peer.onClose(() => {
    if (session.waiting === waiting) session.waiting = null;
  });
  context.sessions.recordTurn(session, 'idle');
  peer.sendEvent({ event: 'waiting', turn_id: session.row.turn_id });
  context.events.emit('deliverable', session);
}

/** Whether the session was closed, and its process has another one open, as after /clear. */
function wasReplaced({ sessions }: Context, frame: Openings['wait']): boolean {
  const { row } = sessions.require(frame);
  return !row.open && sessions.open().some((other) => isSameProcess(other.row, row));
}

/** Our plugin in a program connects; it submits prompts to the session of its process. */
export function door(context: Context, { process }: Openings['door'], peer: Peer): void {
  context.doors.open(process, peer);
  peer.sendEvent({ event: 'waiting', turn_id: 0 });
  for (const session of context.sessions.open())
    if (session.row.pid === process.pid) context.events.emit('deliverable', session);
}

/** The hook had lost its connection: returns a text that it did not accept to `pending`. */
function returnUnaccepted(context: Context, session: Session): void {
  const { flight } = session;
  if (flight?.path === 'wait' && flight.acceptedUs === null) backToPending(context, session, flight, 'carrier_resumed');
}

/** An extension or runner connects; it carries handoffs as long as it is connected. */
export async function hello(context: Context, frame: Openings['hello'], peer: Peer): Promise<void> {
  refuseSubagent(frame.subagent);
  const { session } = context.sessions.register(frame, frame.source);
  if (frame.launch) useTicket(context, session, frame.launch);
  retryAttention(context.journal, session);
  context.sessions.release(session, 'extension');
  const extension = { peer, capabilities: frame.capabilities, welcomed: false };
  session.extension = extension;
  session.capabilities = frame.capabilities;
  session.cancelGrace();
  peer.onFrame = (later) => handleExtensionFrame(context, session, later);
  peer.onClose(() => {
    if (session.extension !== extension) return;
    session.extension = null;
    closeUnlessReconnected(context, session);
  });
  if (!frame.resumed || session.turn === 'unknown') context.sessions.recordTurn(session, 'idle');
  const { boot, seats, lost, note, effects } = await welcome(context, session);
  const [only, another] = session.seats;
  const { capabilities } = frame;
  const mode = another ? undefined : only?.row.mode;
  if (session.extension !== extension) return;
  const known = { boot, seats, capabilities, mode, lost, note: frame.resumed ? undefined : note };
  if (!peer.sendEvent({ event: 'welcome', ...known })) return;
  if (!frame.resumed) writeOrLog(context, () => applyEffects(context, session, effects));
  extension.welcomed = true;
  session.readyUs = context.clock.nowUs();
  context.events.emit('deliverable', session);
}

/** Tells an extension or runner at once that its session lost a seat, or that one ended. Others hear it at their next event. */
export function tellExtension(context: Context, session: Session): void {
  const peer = session.extension?.welcomed ? session.extension.peer : null;
  if (!peer) return;
  // Also while a handoff is in flight: a runner may wait for nothing else.
  const { lines, ...gone } = goneLines(context, session);
  if (lines.length === 0) return;
  const lost = lostBy(context, session).map(agentRefOf);
  const handoff_id = awaitTold(context, session, peer, { ...noEffects, gone });
  peer.sendEvent({ event: 'seats', seats: seatsOf(session), lost, note: lines.join('\n'), handoff_id });
}

function handleExtensionFrame(context: Context, session: Session, frame: LaterFrame): void {
  switch (frame.op) {
    case 'prompt':
      return void turnStarted(context, session, frame);
    case 'turn_end':
      return void turnEnded(context, session, frame, null).catch((error: unknown) => {
        if (!logIfJournalError(context.log, error)) throw error;
      });
    case 'needs_person':
      return void needsPerson(context, session, frame);
    case 'goodbye':
      return void context.sessions.close(session, 'goodbye');
    case 'received': {
      const flight = flightOf(context, session, frame.handoff_id);
      if (flight) confirm(context, session, flight);
      break;
    }
    case 'failed': {
      const flight = flightOf(context, session, frame.handoff_id);
      if (flight?.path !== 'extension') return;
      if (frame.later) postpone(context, session, flight, frame.agents_after_ms);
      else attemptFailed(context, session, flight, frame.reason || 'failed');
    }
  }
}

/** The handoff that an extension has, perhaps since before the connection broke or the daemon crashed. */
const flightOf = (context: Context, session: Session, id: HandoffId): InFlightHandoff | null =>
  session.flight?.id === id ? session.flight : revive(context, session, id);
