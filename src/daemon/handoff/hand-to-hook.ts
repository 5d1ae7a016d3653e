/** Hands messages to a hook that asks at a turn's start, at a tool boundary or at a turn's end. */
import type { DaemonClock } from '../clock.ts';
import { compose } from '../compose/compose.ts';
import type { Point } from '../compose/types.ts';
import type { Peer } from '../control/peer.ts';
import type { Manifest } from '../journal/rows.ts';
import type { Carry } from '../protocol.ts';
import type { PendingHandoff, Session } from '../sessions/session.ts';
import { applyEffects, awaitCarrier, backToPending, takeBack } from './flight.ts';
import { composeSeat, handed, type Offer, offer, type PrepareDeps, prepare, readSeats } from './prepare.ts';

const READ_MS = 2_000;

export interface CarryDeps extends PrepareDeps {
  /** Aborted once nothing new is begun. */
  stopping: AbortSignal;
}

/** A place in the session's life: what was asked for there is given only while it lasts. */
interface Place {
  boot: string;
  turnId: number;
  deadlineUs: number;
}

/** Where the session is now, for `ms`. */
export const placeOf = ({ clock }: { clock: DaemonClock }, session: Session, ms: number): Place => ({
  boot: session.row.boot,
  turnId: session.row.turn_id,
  deadlineUs: clock.nowUs() + ms * 1000,
});

/** Whether the last reads leave nothing to be given, so that a hook need not wait for others. */
export function nothingFor(deps: CarryDeps, session: Session, point: Point): boolean {
  const seats = [...session.seats];
  if (session.lines.length > 0 || seats.some(({ latest }) => latest === null)) return false;
  const known = seats.map((seat) => ({ seat, read: seat.latest!, generation: seat.row.generation }));
  return offer(deps, session, point, known) === null;
}

/**
 * Makes what is given at this point and waits for the carrier's word on it. Nothing while something else is on its way:
 * an accepted wake carries no further messages.
 *
 * @returns what to answer; the answer must be sent at once, by `give`.
 */
export async function gatherCarry(
  deps: CarryDeps,
  session: Session,
  point: Point,
  place: Place,
): Promise<Offer | null> {
  if (deps.stopping.aborted || session.flight || session.seats.size === 0) return null;
  const token = {};
  // A wake that is being made is overtaken.
  session.preparing = token;
  try {
    deps.faults.at('hand.ready');
    const reads = await readSeats(deps, session, null, READ_MS);
    deps.faults.at('hand.read');
    const stays =
      session.preparing === token &&
      !session.flight &&
      session.row.open &&
      session.row.boot === place.boot &&
      session.row.turn_id === place.turnId &&
      deps.clock.nowUs() < place.deadlineUs;
    const here = reads.filter(({ seat, generation }) => seat.session === session && seat.row.generation === generation);
    if (deps.stopping.aborted || !stays) return null;
    // The end of a turn is continued only by what would wake the session.
    const wakes = point !== 'turn_end' || here.some((read) => compose.wakes(composeSeat(deps, session, read, point)));
    if (!wakes) return null;
    const made = offer(deps, session, point, here);
    deps.faults.at('hand.chosen');
    deps.faults.at('hand.checked');
    return made;
  } finally {
    if (session.preparing === token) session.preparing = null;
    if (session.again) {
      session.again = false;
      // After the answer: what is given with it comes first.
      deps.clock.after(0, () => deps.events.emit('deliverable', session));
    }
  }
}

/** Answers a hook with an offer: durable first, then exposed. */
export function give(deps: CarryDeps, session: Session, peer: Peer, offered: Offer | null, extra: Carry = {}): void {
  // Nothing is made ready beside what is on its way.
  const made = offered?.manifest && session.flight ? null : offered;
  const lines = session.lines.slice();
  const nudge = [...lines, made?.carry.nudge].filter(Boolean).join('\n');
  const said = { ...extra, ...made?.carry, ...(nudge ? { nudge } : {}) };
  const told = (): void => void session.lines.splice(0, lines.length);
  if (!made?.manifest) {
    if (made) applyEffects(deps, session, made.effects);
    if (peer.send(said)) told();
    return;
  }
  const whole = made as Offer & { manifest: Manifest };
  const flight = prepared(deps, session, whole);
  awaitCarrier(deps, session, flight, peer);
  const sent = peer.send(said);
  flight.exposed = sent;
  deps.faults.at('hand.exposed');
  if (sent) told();
  if (!sent) backToPending(deps, session, flight, 'write_failed');
  else if (session.flight === flight) handed(deps, flight);
}

/** Prepares a handoff; one that could not be prepared is taken back before it is answered. */
function prepared(deps: CarryDeps, session: Session, whole: Offer & { manifest: Manifest }): PendingHandoff {
  try {
    return prepare(deps, session, whole);
  } catch (error) {
    takeBack(deps, session);
    throw error;
  }
}
