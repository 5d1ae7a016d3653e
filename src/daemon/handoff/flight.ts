/** The handoff on its way: accepted by its carrier, confirmed by what the session does next, or back to `pending`. */
import type { Peer } from '../control/peer.ts';
import type { Core } from '../core.ts';
import { type HandoffRow, JournalError, type PartRow } from '../journal/types.ts';
import type { Seat } from '../sessions/seat.ts';
import type { Flight, Session } from '../sessions/session.ts';
import { type HandoffId, type SeatRef, seatKey } from '../types.ts';
import { logHandoff } from './log-lines.ts';
import { noting } from './noting.ts';
import { leftQueue } from './queued.ts';
import { landed } from './settle.ts';

const STALL_MS = 10_000;
/** Wakes that did not come back before one is believed without its echo. */
const ECHO_ROUNDS = 2;

/** Waits on a connection for the carrier's word; one that closes first took nothing. @param then once it is accepted. */
export function awaitCarrier(
  core: Core,
  session: Session,
  flight: Flight,
  peer: Peer,
  then: () => void = () => {},
): void {
  peer.expect(flight.id, (received) => {
    if (!received) {
      backToPending(core, session, flight, 'carrier_closed');
      return true;
    }
    try {
      accepted(core, session, flight);
      then();
    } catch (error) {
      backToPending(core, session, flight, 'not_noted');
      throw error;
    }
    return true;
  });
}

/** The carrier has written the text into the harness. */
export function accepted(core: Core, session: Session, flight: Flight): void {
  if (session.flight !== flight || flight.acceptedUs !== null) return;
  core.faults.at('accept.received');
  const acceptedUs = core.clock.nowUs();
  core.journal.write(() => {
    core.journal.updateHandoff(flight.id, { accepted_at: acceptedUs });
    applyEffects(core, session, flight.effects);
  });
  core.faults.at('accept.recorded');
  flight.acceptedUs = acceptedUs;
  logHandoff(core, 'handoff_accepted', flight.id);
  watchForTurn(core, session, flight);
  core.sessions.changed(session);
}

/** Reminders, modes and announcements count as told once the carrier has them. */
export function applyEffects(core: Core, session: Session, { nudges, modes, announced }: Flight['effects']): void {
  const now = core.clock.now();
  core.journal.write(() => {
    for (const nudge of nudges) core.journal.saveNudge(nudge, nudge.code, nudge.key, now);
    for (const { up_to_seq: upTo, ...seat } of announced)
      core.journal.saveAnnounced(seat, session.key, session.row.boot, upTo);
    for (const { mode, ...ref } of modes) core.seats.of(ref)?.session === session && core.seats.told(ref, mode);
  });
  for (const { member_id, code } of nudges) core.log.write('nudge', { session: session.key, seats: [member_id], code });
  for (const { member_id, up_to_seq: upTo } of announced)
    core.log.write('notice', { session: session.key, seats: [member_id], seqs: [upTo] });
  core.metrics.count('nudges', nudges.length);
  core.metrics.count('notices', announced.length);
}

/** An accepted wake after which nothing happens is reported; it is never sent again on that ground alone. */
export function watchForTurn(core: Core, session: Session, flight: Flight): void {
  if (flight.path === 'prompt' || flight.path === 'tool' || flight.path === 'turn_end') return;
  flight.cancelStall = core.clock.after(STALL_MS, () => {
    const waits = session.flight === flight && session.turn === 'idle' && session.row.turned && !flight.echoed;
    if (!waits) return;
    flight.stalled = true;
    noting(core, () => core.journal.updateHandoff(flight.id, { stalled_at: core.clock.now() }));
    logHandoff(core, 'handoff_stalled', flight.id, {}, 'warn');
    core.sessions.changed(session);
  });
}

export interface SessionEvent {
  kind: 'prompt' | 'tool' | 'wait' | 'turn_end' | 'command';
  /** When its cause began. */
  startedUs: number;
  /** The prompt is a wake: the handoff whose id it holds. */
  wakeOf?: string | undefined;
}

/** What an event of a session says about the handoff on its way to it. @returns whether it is that wake's echo. */
export function evidence(core: Core, session: Session, event: SessionEvent): boolean {
  const { flight } = session;
  if (!flight || flight.acceptedUs === null || flight.boot !== session.row.boot) return false;
  if (event.kind === 'prompt' && event.wakeOf === flight.id) {
    flight.echoed = true;
    flight.cancelStall();
    noting(core, () => core.journal.updateHandoff(flight.id, { turn_at: core.clock.now() }));
    return true;
  }
  if (event.startedUs <= flight.acceptedUs) return false;
  const adapter = core.adapters.of(session.row.harness);
  const silent = flight.path === 'wait' && adapter.wakeEcho && !flight.echoed && event.kind === 'prompt';
  if (silent && flight.attempts < ECHO_ROUNDS) {
    backToPending(core, session, flight, 'wake_lost', { attempts: flight.attempts + 1 });
    return false;
  }
  if (silent) {
    core.metrics.count('wake_echo_missing');
    logHandoff(core, 'wake_echo_missing', flight.id, {}, 'warn');
  }
  // The session has the text, so its program's queue has it no more.
  if (flight.path === 'queue') leftQueue(core, session, flight.id);
  confirm(core, session, flight);
  return false;
}

/** Receipt is certain and made durable; only then is anything acknowledged. */
export function confirm(core: Core, session: Session, flight: Flight): void {
  if (session.flight !== flight) return;
  core.faults.at('confirm.evidence');
  const manifest = core.journal.manifest(flight.id);
  const touched: Seat[] = [];
  const rows = core.journal.write(() => {
    const now = core.clock.now();
    core.journal.updateHandoff(flight.id, { state: 'confirmed', confirmed_at: now });
    const all = (manifest?.parts ?? []).flatMap((part) => {
      const seat = confirmedSeat(core, part);
      if (!seat) return [];
      touched.push(seat);
      core.journal.setPart(flight.id, part, 'confirmed');
      // What was cut at a tool boundary stays unread and comes whole.
      const whole = manifest!.messages.filter(
        (message) => seatKey(message) === seatKey(part) && !(flight.path === 'tool' && message.form === 'truncated'),
      );
      return whole.map(({ origin, member_id, message_id, seq }) => ({ origin, member_id, message_id, seq }));
    });
    core.journal.saveReceived(
      all.filter((row) => isAhead(core, row)).map((row) => ({ ...row, via: 'handoff' as const })),
      now,
    );
    return all;
  });
  for (const row of rows.filter((row) => isAhead(core, row))) core.seats.of(row)?.received.set(row.message_id, row.seq);
  core.metrics.count('confirmed');
  logHandoff(core, 'handoff_confirmed', flight.id);
  land(core, session, flight);
  try {
    landed(core, flight.id);
    core.faults.at('confirm.recorded');
    core.pairing?.endpoints.confirmed({ session: session.key, boot: flight.boot, handoff: flight.id, messages: rows });
  } finally {
    // Whatever else goes wrong, what is known to be received is acknowledged.
    for (const seat of touched) core.acks.want(seat);
    core.acks.notices(flight.id);
  }
}

/** What the cursor has passed is acknowledged already, whoever read it; it was received in this handoff all the same. */
const isAhead = (core: Core, { seq, ...seat }: SeatRef & { seq: number }): boolean =>
  seq > (core.seats.of(seat)?.row.cursor ?? 0);

/** A callback of an older binding confirms nothing. */
function confirmedSeat(core: Core, part: PartRow): Seat | null {
  const seat = core.seats.of(part);
  return part.state === 'open' && seat && seat.row.generation === part.generation ? seat : null;
}

/** Something broke before anybody could see the text: it is as if it had not been made. */
export function takeBack(core: Core, session: Session): void {
  const { flight } = session;
  if (flight && !flight.exposed) backToPending(core, session, flight, 'not_exposed');
}

const backLines: Partial<Record<HandoffRow['state'], 'handoff_retry' | 'handoff_attention'>> = {
  retry: 'handoff_retry',
  attention: 'handoff_attention',
};

/** Nobody took it: it has to be given again. */
export function backToPending(
  core: Core,
  session: Session,
  flight: Flight,
  reason: string,
  change: Partial<Pick<HandoffRow, 'attempts' | 'next_at' | 'state'>> = {},
): void {
  if (session.flight !== flight) return;
  const state = change.state ?? 'pending';
  try {
    core.journal.updateHandoff(flight.id, { state, reason, accepted_at: null, ...change });
    landed(core, flight.id);
  } catch (error) {
    // It stays `handed` in the journal, which the next start turns into the same.
    if (!(error instanceof JournalError)) throw error;
    core.log.write('journal_error', { handoff: flight.id }, 'error');
  }
  core.metrics.count('redelivered');
  logHandoff(core, backLines[state] ?? 'handoff_pending', flight.id, { reason }, state === 'pending' ? 'info' : 'warn');
  land(core, session, flight);
}

/** Nothing is on its way to the session any more. */
export function land(core: Core, session: Session, flight: Flight): void {
  flight.cancelStall();
  session.flight = null;
  session.deliveredUs = core.clock.nowUs();
  session.readyUs = session.deliveredUs;
  core.sessions.changed(session);
  core.consider(session);
}

/**
 * A handoff of this session and boot that was taken for lost, and whose text is in the session after all: an extension
 * says so again, or a wake comes back. @returns it, as on its way and accepted.
 */
export function revive(core: Core, session: Session, id: HandoffId): Flight | null {
  const row = core.journal.handoff(id);
  const lost = row && ['pending', 'retry'].includes(row.state);
  if (!lost || session.flight || row.session_key !== session.key || row.boot !== session.row.boot) return null;
  const acceptedUs = core.clock.nowUs();
  core.journal.updateHandoff(id, { state: 'handed', accepted_at: acceptedUs, reason: null });
  const flight = flightOf(row, acceptedUs);
  session.flight = flight;
  session.preparing = null;
  return flight;
}

/** Numbers of the seat's messages whose text its session was given, and whose receipt nothing proves yet. */
export function handedTo({ journal }: Core, { session, row }: Seat): number[] {
  const flight = session?.flight;
  const messages = (flight?.exposed && journal.manifest(flight.id)?.messages) || [];
  return messages.filter((message) => seatKey(message) === seatKey(row)).map(({ seq }) => seq);
}

/** A handoff of the journal as one on its way. */
export const flightOf = (row: HandoffRow, acceptedUs: number | null): Flight => ({
  id: row.id,
  path: row.path,
  boot: row.boot,
  exposed: true,
  acceptedUs,
  echoed: row.turn_at !== null,
  stalled: row.stalled_at !== null,
  attempts: row.attempts,
  effects: { nudges: [], modes: [], announced: [] },
  cancelStall: () => {},
});
