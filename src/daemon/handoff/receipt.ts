/** Detects from a session's next event that it received a handoff, saves that, and then acknowledges the messages. */
import type { Adapters } from '../adapter.ts';
import type { Common } from '../common.ts';
import type { Acknowledger } from '../inbox/acknowledge.ts';
import { logIfJournalError, writeOrLog } from '../journal/journal.ts';
import type { PartRow } from '../journal/rows.ts';
import { type SeatRef, seatKey } from '../refs.ts';
import type { InFlightHandoff, Seat, Session } from '../sessions/session.ts';
import { backToPending, endFlight } from './flight.ts';
import { logHandoff } from './log-lines.ts';
import { closePassedParts } from './parts.ts';
import { markLeftQueue } from './queued.ts';

/** Missing echoes after which a wake counts as received without one. */
const MAX_MISSING_ECHOES = 2;
const CONFIRM_RETRY_MS = 2_000;

export interface ReceiptDeps extends Common {
  adapters: Adapters;
  acks: Acknowledger;
}

interface SessionEvent {
  kind: 'prompt' | 'tool' | 'wait' | 'turn_end' | 'command';
  /** When its cause began. */
  startedUs: number;
  /** If the prompt is a wake: the id of its handoff. */
  wakeOf?: string | undefined;
}

/**
 * Decides from an event whether the session has received the handoff in flight.
 *
 * @returns whether the event is the echo of that wake
 */
export function checkReceipt(deps: ReceiptDeps, session: Session, event: SessionEvent): boolean {
  const { flight } = session;
  if (!flight || flight.acceptedUs === null || flight.boot !== session.row.boot) return false;
  if (event.kind === 'prompt' && event.wakeOf === flight.id) {
    flight.echoed = true;
    // The session had the text when this prompt began, even if the carrier's confirmation came later.
    flight.acceptedUs = Math.min(flight.acceptedUs, event.startedUs);
    flight.cancelStall();
    writeOrLog(deps, () => deps.journal.updateHandoff(flight.id, { turn_at: deps.clock.now() }));
    return true;
  }
  if (event.startedUs <= flight.acceptedUs) return false;
  const adapter = deps.adapters.of(session.row.harness);
  const echoMissing = flight.path === 'wait' && adapter.wakeEcho && !flight.echoed && event.kind === 'prompt';
  if (echoMissing && flight.attempts < MAX_MISSING_ECHOES) {
    backToPending(deps, session, flight, 'wake_lost', { attempts: flight.attempts + 1 });
    return false;
  }
  if (echoMissing) {
    deps.metrics.count('wake_echo_missing');
    logHandoff(deps, 'wake_echo_missing', flight.id, {}, 'warn');
  }
  // The session has the text, so it has left the program's queue.
  if (flight.path === 'queue') markLeftQueue(deps, session, flight.id);
  confirmOrRepeat(deps, session, flight);
  return false;
}

/** Records a receipt as soon as the journal can be written: what the session does now counts whether or not it can. */
function confirmOrRepeat(deps: ReceiptDeps, session: Session, flight: InFlightHandoff): void {
  try {
    confirm(deps, session, flight);
  } catch (error) {
    if (!logIfJournalError(deps.log, error)) throw error;
    // The daemon's clock repeats it until it succeeds.
    deps.clock.after(CONFIRM_RETRY_MS, () => confirm(deps, session, flight));
  }
}

/** Records a confirmed receipt in the journal, then acknowledges the messages. */
export function confirm(deps: ReceiptDeps, session: Session, flight: InFlightHandoff): void {
  if (session.flight !== flight) return;
  deps.faults.at('confirm.evidence');
  const manifest = deps.journal.manifest(flight.id);
  const touched: Seat[] = [];
  const rows = deps.journal.write(() => {
    const now = deps.clock.now();
    deps.journal.updateHandoff(flight.id, { state: 'confirmed', confirmed_at: now });
    const all = (manifest?.parts ?? []).flatMap((part) => {
      const seat = confirmedSeat(deps, part);
      if (!seat) return [];
      touched.push(seat);
      deps.journal.setPart(flight.id, part, 'confirmed');
      // A message truncated at a tool boundary stays unread and is delivered whole later.
      const whole = manifest!.messages.filter(
        (message) => seatKey(message) === seatKey(part) && !(flight.path === 'tool' && message.form === 'truncated'),
      );
      return whole.map(({ origin, member_id, message_id, seq }) => ({ origin, member_id, message_id, seq }));
    });
    const unread = [...all, ...shownBefore(deps, touched, flight, all)].filter((row) => isUnread(deps, row));
    deps.journal.saveReceived(
      unread.map((row) => ({ ...row, via: 'handoff' as const })),
      now,
    );
    return { all, unread };
  });
  for (const row of rows.unread) deps.seats.of(row)?.received.set(row.message_id, row.seq);
  deps.metrics.count('confirmed');
  logHandoff(deps, 'handoff_confirmed', flight.id);
  endFlight(deps, session, flight);
  try {
    closePassedParts(deps, flight.id);
    deps.faults.at('confirm.recorded');
    deps.events.emit('received', { session: session.key, boot: flight.boot, handoff: flight.id, messages: rows.all });
  } finally {
    // Received messages are acknowledged even if something else fails.
    for (const seat of touched) deps.acks.schedule(seat);
    deps.acks.acknowledgeNotices(flight.id);
  }
}

interface ReceivedMessage extends SeatRef {
  message_id: string;
  seq: number;
}

/**
 * What a command showed the session before these messages, which it has too. By itself that acknowledges nothing, but nothing
 * behind it could be acknowledged otherwise for as long as the session lives.
 */
const shownBefore = (
  { journal }: ReceiptDeps,
  seats: readonly Seat[],
  { boot }: InFlightHandoff,
  received: readonly ReceivedMessage[],
): ReceivedMessage[] =>
  seats.flatMap(({ row }) => {
    const { origin, member_id, generation } = row;
    const last = Math.max(...received.filter((one) => seatKey(one) === seatKey(row)).map(({ seq }) => seq));
    return journal
      .shown(row, generation, boot)
      .filter(({ seq }) => seq < last)
      .map((shown) => ({ origin, member_id, ...shown }));
  });

/** Whether a message is after the cursor; earlier ones were acknowledged by another client. */
const isUnread = (deps: ReceiptDeps, { seq, ...seat }: SeatRef & { seq: number }): boolean =>
  seq > (deps.seats.of(seat)?.row.cursor ?? 0);

/** The seat of a part; null if the seat was bound again since. */
function confirmedSeat(deps: ReceiptDeps, part: PartRow): Seat | null {
  const seat = deps.seats.of(part);
  return part.state === 'open' && seat && seat.row.generation === part.generation ? seat : null;
}
