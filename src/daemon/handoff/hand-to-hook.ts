/** Delivers messages to a hook that asks at a turn's start, a tool boundary or a turn's end. */
import type { Common } from '../common.ts';
import { compose } from '../compose/compose.ts';
import type { Point } from '../compose/types.ts';
import type { Peer } from '../control/peer.ts';
import type { Manifest } from '../journal/rows.ts';
import type { Carry, HandoffId } from '../protocol.ts';
import type { Effects, InFlightHandoff, Session } from '../sessions/session.ts';
import { applyEffects, awaitCarrier, backToPending, cancelUnexposed } from './flight.ts';
import {
  composeOffer,
  composeSeat,
  linesOffer,
  markHanded,
  newHandoffId,
  type Offer,
  type PrepareDeps,
  prepare,
  readableSeats,
  readSeats,
} from './prepare.ts';

const READ_TIMEOUT_MS = 2_000;

export interface HookDeps extends PrepareDeps {
  /** Aborted when the daemon stops, so that no new work is started. */
  stopping: AbortSignal;
}

/** The boot and turn that a hook asked in: its answer is sent only while they last. */
interface TurnScope {
  boot: string;
  turnId: number;
  deadlineUs: number;
}

/** The session's current boot and turn, with a deadline in `ms`. */
export const turnScope = ({ clock }: Common, session: Session, ms: number): TurnScope => ({
  boot: session.row.boot,
  turnId: session.row.turn_id,
  deadlineUs: clock.nowUs() + ms * 1000,
});

/** Whether the last reads contain nothing to deliver, so that a hook, also one for our own lines, need not wait for new reads. */
export function hasNothingFor(deps: HookDeps, session: Session, point: Point): boolean {
  const seats = readableSeats(deps, session);
  if (session.telling) return true;
  if (seats.some(({ latest }) => latest === null)) return false;
  const known = seats.map((seat) => ({ seat, read: seat.latest!, generation: seat.row.generation }));
  return composeOffer(deps, session, point, known) === null;
}

/**
 * Prepares what is delivered at this point; null while another handoff is in flight, because an accepted wake carries no
 * further messages.
 *
 * @returns the offer, which must be sent at once with `sendOffer`
 */
export async function prepareOffer(
  deps: HookDeps,
  session: Session,
  point: Point,
  scope: TurnScope,
): Promise<Offer | null> {
  if (deps.stopping.aborted || session.flight || session.telling || session.seats.size === 0) return null;
  const token = {};
  // Cancels a wake that is being prepared.
  session.preparing = token;
  try {
    deps.faults.at('hand.ready');
    const reads = await readSeats(deps, session, null, READ_TIMEOUT_MS);
    deps.faults.at('hand.read');
    const unchanged =
      session.preparing === token &&
      !session.flight &&
      session.row.open &&
      session.row.boot === scope.boot &&
      session.row.turn_id === scope.turnId &&
      deps.clock.nowUs() < scope.deadlineUs;
    const here = reads.filter(({ seat, generation }) => seat.session === session && seat.row.generation === generation);
    if (deps.stopping.aborted || !unchanged) return null;
    // Only messages that would wake the session continue a turn.
    const wakes = point !== 'turn_end' || here.some((read) => compose.wakes(composeSeat(deps, session, read, point)));
    if (!wakes) return null;
    const made = composeOffer(deps, session, point, here);
    deps.faults.at('hand.chosen');
    deps.faults.at('hand.checked');
    return made;
  } finally {
    if (session.preparing === token) session.preparing = null;
    if (session.rerun) {
      session.rerun = false;
      // Runs after the answer, whose content comes first.
      deps.clock.after(0, () => deps.events.emit('deliverable', session));
    }
  }
}

/** Answers a hook with an offer, which is saved in the journal before it is sent. */
export function sendOffer(
  deps: HookDeps,
  session: Session,
  peer: Peer,
  offered: Offer | null,
  extra: Carry = {},
): void {
  // There is only one handoff in flight at a time.
  const made = offered && !(offered.manifest && session.flight) ? offered : linesOffer(deps, session);
  const answer = { ...extra, ...made?.carry };
  if (!made) return void peer.send(answer);
  if (!made.manifest) {
    const telling = {};
    session.telling = telling;
    peer.onClose(() => {
      if (session.telling === telling) session.telling = null;
    });
    peer.send({ ...answer, handoff_id: awaitTold(deps, session, peer, made.effects) });
    return;
  }
  const whole = made as Offer & { manifest: Manifest };
  let flight: InFlightHandoff;
  try {
    flight = prepare(deps, session, whole);
  } catch (error) {
    cancelUnexposed(deps, session);
    throw error;
  }
  awaitCarrier(deps, session, flight, peer);
  const sent = peer.send(answer);
  flight.exposed = sent;
  deps.faults.at('hand.exposed');
  if (!sent) backToPending(deps, session, flight, 'write_failed');
  else if (session.flight === flight) markHanded(deps, flight);
}

/**
 * Records what a text without messages tells once its carrier has written it. The next text repeats it otherwise.
 * @returns the id to send with it, which the carrier confirms
 */
export function awaitTold(deps: Common, session: Session, peer: Peer, effects: Effects): HandoffId {
  const id = newHandoffId();
  peer.awaitReceived(id, (received) => {
    if (received) applyEffects(deps, session, effects);
    return received;
  });
  return id;
}
