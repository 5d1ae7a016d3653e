/** The handoff in flight: sent to its carrier, accepted by it, or returned to `pending`. */
import type { Common } from '../common.ts';
import type { Peer } from '../control/peer.ts';
import { type Journal, JournalError, writeOrLog } from '../journal/journal.ts';
import type { HandoffRow } from '../journal/rows.ts';
import type { HandoffId } from '../protocol.ts';
import { seatKey } from '../refs.ts';
import { saveGoneTold } from '../sessions/gone.ts';
import type { Effects, InFlightHandoff, Seat, Session } from '../sessions/session.ts';
import { logHandoff } from './log-lines.ts';
import { noEffects } from './own-lines.ts';
import { closePassedParts, isInFlight } from './parts.ts';

const STALL_MS = 10_000;
/** Delay before a return to `pending` that the journal could not write is repeated. */
const RETRY_MS = 2_000;

/** Waits until the carrier accepts the text or closes its connection. @param then runs after acceptance */
export function awaitCarrier(
  deps: Common,
  session: Session,
  flight: InFlightHandoff,
  peer: Peer,
  then: () => void = () => {},
): void {
  peer.awaitReceived(flight.id, (received) => {
    if (!received) {
      backToPending(deps, session, flight, 'carrier_closed');
      return true;
    }
    try {
      markAccepted(deps, session, flight);
      then();
    } catch (error) {
      backToPending(deps, session, flight, 'not_noted');
      throw error;
    }
    return true;
  });
}

/** The carrier has written the text into the harness. */
export function markAccepted(deps: Common, session: Session, flight: InFlightHandoff): void {
  if (session.flight !== flight || flight.acceptedUs !== null) return;
  deps.faults.at('accept.received');
  const acceptedUs = deps.clock.nowUs();
  deps.journal.write(() => {
    deps.journal.updateHandoff(flight.id, { accepted_at: acceptedUs });
    applyEffects(deps, session, flight.effects);
  });
  deps.faults.at('accept.recorded');
  flight.acceptedUs = acceptedUs;
  logHandoff(deps, 'handoff_accepted', flight.id);
  watchForTurn(deps, session, flight);
  deps.events.emit('changed', session);
}

/** Records what a text told, once its carrier has it: reminders, modes, announcements, and lines of our own. */
export function applyEffects(
  deps: Common,
  session: Session,
  { nudges, modes, announced, gone, pending }: Effects,
): void {
  const now = deps.clock.now();
  deps.journal.write(() => {
    for (const nudge of nudges) deps.journal.saveNudge(nudge, nudge.code, nudge.key, now);
    for (const { up_to_seq: upTo, ...seat } of announced)
      deps.journal.saveAnnounced(seat, session.key, session.row.boot, upTo);
    for (const { mode, ...ref } of modes)
      deps.seats.of(ref)?.session === session && deps.seats.saveAnnouncedMode(ref, mode);
    saveGoneTold(deps.journal, session, gone, now);
  });
  for (const line of pending) {
    const at = session.pendingLines.indexOf(line);
    if (at >= 0) session.pendingLines.splice(at, 1);
  }
  for (const { member_id, code } of nudges) deps.log.write('nudge', { session: session.key, seats: [member_id], code });
  for (const { member_id, up_to_seq: upTo } of announced)
    deps.log.write('notice', { session: session.key, seats: [member_id], seqs: [upTo] });
  deps.metrics.count('nudges', nudges.length);
  deps.metrics.count('notices', announced.length);
}

/** Reports an accepted wake that no turn follows. It is not sent again for that reason alone. */
export function watchForTurn(deps: Common, session: Session, flight: InFlightHandoff): void {
  if (flight.path === 'prompt' || flight.path === 'tool' || flight.path === 'turn_end') return;
  flight.cancelStall = deps.clock.after(STALL_MS, () => {
    const waits = session.flight === flight && session.turn === 'idle' && session.row.turned && !flight.echoed;
    if (!waits) return;
    flight.stalled = true;
    writeOrLog(deps, () => deps.journal.updateHandoff(flight.id, { stalled_at: deps.clock.now() }));
    logHandoff(deps, 'handoff_stalled', flight.id, {}, 'warn');
    deps.events.emit('changed', session);
  });
}

/** Returns a handoff that failed before its text was sent to `pending`. */
export function cancelUnexposed(deps: Common, session: Session): void {
  const { flight } = session;
  if (flight && !flight.exposed) backToPending(deps, session, flight, 'not_exposed');
}

const returnEvents: Partial<Record<HandoffRow['state'], 'handoff_retry' | 'handoff_attention'>> = {
  retry: 'handoff_retry',
  attention: 'handoff_attention',
};

/** Returns a handoff to `pending`, because its carrier did not accept it. */
export function backToPending(
  deps: Common,
  session: Session,
  flight: InFlightHandoff,
  reason: string,
  change: Partial<Pick<HandoffRow, 'attempts' | 'next_at' | 'state'>> = {},
): void {
  if (session.flight !== flight) return;
  const state = change.state ?? 'pending';
  const save = () =>
    deps.journal.write(() => {
      deps.journal.updateHandoff(flight.id, { state, reason, accepted_at: null, ...change });
      closePassedParts(deps, flight.id);
    });
  try {
    save();
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    deps.log.write('journal_error', { handoff: flight.id }, 'error');
    // The journal still says `handed`, so nothing of it is delivered. The daemon's clock repeats this until it succeeds.
    deps.clock.after(RETRY_MS, () => {
      const saved = deps.journal.handoff(flight.id);
      if (session.flight?.id === flight.id || !saved || !isInFlight(saved.state)) return;
      save();
      deps.events.emit('deliverable', session);
    });
  }
  deps.metrics.count('redelivered');
  logHandoff(
    deps,
    returnEvents[state] ?? 'handoff_pending',
    flight.id,
    { reason },
    state === 'pending' ? 'info' : 'warn',
  );
  endFlight(deps, session, flight);
}

/** Clears the handoff in flight, so that the session can get the next one. */
export function endFlight(deps: Common, session: Session, flight: InFlightHandoff): void {
  flight.cancelStall();
  session.flight = null;
  session.deliveredUs = deps.clock.nowUs();
  session.readyUs = session.deliveredUs;
  deps.events.emit('changed', session);
  deps.events.emit('deliverable', session);
}

/**
 * Restores a handoff of this session and boot that was considered lost, when an extension or an echo shows that the session
 * has its text. @returns the accepted handoff in flight; null if there is none
 */
export function revive(deps: Common, session: Session, id: HandoffId): InFlightHandoff | null {
  const row = deps.journal.handoff(id);
  // One that is in flight still could not be returned to `pending` yet.
  const lost = row && (isInFlight(row.state) || ['pending', 'retry'].includes(row.state));
  if (!lost || session.flight || row.session_key !== session.key || row.boot !== session.row.boot) return null;
  const acceptedUs = deps.clock.nowUs();
  deps.journal.updateHandoff(id, { state: 'handed', accepted_at: acceptedUs, reason: null });
  const flight = restoreFlight(row, acceptedUs);
  session.flight = flight;
  session.preparing = null;
  return flight;
}

/** Numbers of the seat's messages that were sent to its session and are not confirmed yet. */
export function unconfirmedSeqs(journal: Journal, { session, row }: Seat): number[] {
  const flight = session?.flight;
  const messages = (flight?.exposed && journal.manifest(flight.id)?.messages) || [];
  return messages.filter((message) => seatKey(message) === seatKey(row)).map(({ seq }) => seq);
}

/** A handoff in flight from its row in the journal. */
export const restoreFlight = (row: HandoffRow, acceptedUs: number | null): InFlightHandoff => ({
  id: row.id,
  path: row.path,
  boot: row.boot,
  exposed: true,
  acceptedUs,
  echoed: row.turn_at !== null,
  stalled: row.stalled_at !== null,
  attempts: row.attempts,
  effects: noEffects,
  cancelStall: () => {},
});
