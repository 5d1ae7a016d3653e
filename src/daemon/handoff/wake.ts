/** Waking an idle session: at once for the first message, gathered for those that come around a delivery. */
import { isOwners, ofAgentsAlone, waitingOf } from '../compose/modes.ts';
import type { Peer } from '../control/peer.ts';
import type { Core } from '../core.ts';
import { JournalError, type Manifest } from '../journal/types.ts';
import type { Session } from '../sessions/session.ts';
import type { CarrierState, ComposeSeat } from '../types.ts';
import { awaitCarrier, backToPending, confirm, takeBack } from './flight.ts';
import { composeSeat, ended, handed, type Offer, offer, prepare, readSeats, type SeatRead } from './prepare.ts';
import { queue } from './queue.ts';
import { tellQueue } from './queued.ts';

const GATHER_US = 150_000;
const GATHER_MOST_US = 1_000_000;
const READ_MS = 3_000;
const FAILED_MS = { first: 2_000, most: 300_000 };

type Carrier =
  | { kind: 'wait' | 'extension'; peer: Peer }
  /** With `asUser` only the words of its person go by it, and as theirs. */
  | { kind: 'door'; peer: Peer; asUser: boolean }
  | { kind: 'queue' };

/** What an idle session can be reached by now. */
function carrierOf(core: Core, session: Session): Carrier | null {
  if (!session.row.open) return null;
  const adapter = core.adapters.of(session.row.harness);
  const door = adapter.capabilities.has('owner-door') ? core.doors.of(session, core.sessions.open()) : null;
  if (adapter.canHand(carrierState(session, door !== null)) !== 'now') return null;
  if (door && session.turn !== 'busy' && ownerWaits(core, session)) return { kind: 'door', peer: door, asUser: true };
  if (session.waiting) return { kind: 'wait', peer: session.waiting.peer };
  if (session.extension?.welcomed)
    return session.turn === 'busy' ? null : { kind: 'extension', peer: session.extension.peer };
  if (door) return session.turn === 'busy' ? null : { kind: 'door', peer: door, asUser: false };
  return adapter.capabilities.has('queue') ? { kind: 'queue' } : null;
}

/** A word of its person waits, which may wake it. */
const ownerWaits = (core: Core, session: Session): boolean =>
  known(core, session).some((seat) => seat.mode !== 'off' && waitingOf(seat).some(isOwners));

/** What waits beside the word of its person. */
const leftOut = (core: Core, session: Session, reads: readonly SeatRead[]): ReadonlySet<string> =>
  new Set(
    reads.flatMap((read) =>
      waitingOf(composeSeat(core, session, read, 'wake')).flatMap((message) => (isOwners(message) ? [] : [message.id])),
    ),
  );

const carrierState = ({ turn, waiting, extension }: Session, door: boolean): CarrierState => ({
  turn,
  waiting: waiting !== null,
  extension: extension?.welcomed === true,
  door,
});

/** Looks whether the session has to be woken now, and does it. Called after everything that could change the answer. */
export function consider(core: Core, session: Session): void {
  session.cancelTimer();
  session.cancelTimer = () => {};
  if (core.stopping || session.flight) return;
  if (session.preparing) {
    session.again = true;
    return;
  }
  if (!carrierOf(core, session) || !somethingWakes(core, session)) return;
  const now = core.clock.nowUs();
  const due = Math.max(
    session.notBeforeUs,
    session.gathering ? gatheredAt(session) : 0,
    onlyAgents(core, session) ? session.agentsNotBeforeUs : 0,
  );
  if (due > now) {
    session.cancelTimer = core.clock.after(Math.ceil((due - now) / 1000), () => consider(core, session));
    return;
  }
  session.gathering = false;
  void hand(core, session);
}

/** When the messages that arrived around the last delivery have been quiet for long enough. */
const gatheredAt = ({ arrivedUs, deliveredUs }: Session): number =>
  Math.min(arrivedUs + GATHER_US, deliveredUs + GATHER_MOST_US);

/** Messages came in: they are gathered if a delivery is under way or has just been. */
export function arrived(core: Core, session: Session): void {
  session.arrivedUs = core.clock.nowUs();
  const under = session.flight !== null || session.preparing !== null;
  if (under || (session.deliveredUs > 0 && session.arrivedUs - session.deliveredUs < GATHER_US))
    session.gathering = true;
}

const somethingWakes = (core: Core, session: Session): boolean => known(core, session).some(core.compose.wakes);

const onlyAgents = (core: Core, session: Session): boolean => ofAgentsAlone(known(core, session));

/** Its seats as they were read last. */
const known = (core: Core, session: Session): ComposeSeat[] =>
  [...session.seats].flatMap((seat) => {
    if (!seat.latest || seat.held || ended(seat)) return [];
    return [composeSeat(core, session, { seat, read: seat.latest }, 'wake')];
  });

/** The six steps, each after the one before it has held. */
async function hand(core: Core, session: Session): Promise<void> {
  const token = {};
  const carrier = carrierOf(core, session);
  const { boot } = session.row;
  session.preparing = token;
  session.again = false;
  let given = false;
  try {
    core.faults.at('hand.ready');
    const reads = await readSeats(core, session, session.readyUs, READ_MS);
    core.faults.at('hand.read');
    if (!current(core, session, { token, carrier, boot, reads })) return;
    // The mode or the inbox may be another by now.
    if (!reads.some((read) => core.compose.wakes(composeSeat(core, session, read, 'wake')))) return;
    const made = offer(core, session, 'wake', reads, carrier!);
    core.faults.at('hand.chosen');
    if (!made) return;
    core.faults.at('hand.checked');
    if (carrier?.kind === 'door' && carrier.asUser) session.owed = leftOut(core, session, reads);
    expose(core, session, made, carrier!);
    given = true;
    session.failures = 0;
    for (const { seat } of reads) if (seat.row.problem === 'handoff_failed') core.seats.problem(seat.row, null);
    measure(core, reads, made);
  } catch (error) {
    takeBack(core, session);
    failed(core, session, error);
  } finally {
    if (session.preparing === token) session.preparing = null;
    if (!given && session.again) consider(core, session);
  }
}

/** Still the same carrier, boot and generations, and nothing else on its way. */
function current(
  core: Core,
  session: Session,
  { token, carrier, boot, reads }: { token: object; carrier: Carrier | null; boot: string; reads: SeatRead[] },
): boolean {
  if (core.stopping || session.preparing !== token || session.flight || session.row.boot !== boot) return false;
  const now = carrierOf(core, session);
  if (!now || !carrier || now.kind !== carrier.kind) return false;
  if (now.kind !== 'queue' && carrier.kind !== 'queue' && now.peer !== carrier.peer) return false;
  if (now.kind === 'door' && carrier.kind === 'door' && now.asUser !== carrier.asUser) return false;
  return reads.every(({ seat, generation }) => seat.session === session && seat.row.generation === generation);
}

function expose(core: Core, session: Session, made: Offer, carrier: Carrier): void {
  // Text without anything to confirm has no reason to wake anybody.
  if (!made.manifest) return;
  const whole = made as Offer & { manifest: Manifest };
  const flight = prepare(core, session, whole);
  core.metrics.count('wakes');
  if (carrier.kind === 'queue') {
    flight.exposed = true;
    handed(core, flight);
    tellQueue(core, session);
    void queue(core, session, flight, made.carry);
    core.faults.at('hand.exposed');
    return;
  }
  const { peer } = carrier;
  // An extension's word is receipt as well.
  awaitCarrier(core, session, flight, peer, () => carrier.kind === 'extension' && confirm(core, session, flight));
  const sent = peer.send({ event: 'deliver', ...made.carry });
  flight.exposed = sent;
  core.faults.at('hand.exposed');
  // A hook delivers once.
  if (carrier.kind === 'wait') session.waiting = null;
  if (!sent) backToPending(core, session, flight, 'write_failed');
  else if (session.flight === flight) handed(core, flight);
}

function measure(core: Core, reads: readonly SeatRead[], { manifest }: Offer): void {
  if (!manifest) return;
  const ids = new Set(manifest.messages.map(({ message_id }) => message_id));
  const times = reads.flatMap(({ read }) => read.inbox.messages.filter(({ id }) => ids.has(id)).map(({ at }) => at));
  const newest = Math.max(...times.map((at) => Date.parse(at)));
  if (Number.isFinite(newest)) core.metrics.delivery(Math.max(0, core.clock.now() - newest));
}

/** Nothing was handed; tried again later, and later each time. */
function failed(core: Core, session: Session, error: unknown): void {
  const ms = Math.min(FAILED_MS.most, FAILED_MS.first * 2 ** session.failures);
  session.failures++;
  session.notBeforeUs = core.clock.nowUs() + ms * 1000;
  const ev = error instanceof JournalError ? 'journal_error' : 'hook_error';
  core.log.write(ev, { session: session.key, ms, code: error instanceof Error ? error.name : 'unknown' }, 'error');
  for (const seat of session.seats) core.seats.problem(seat.row, 'handoff_failed');
  session.again = true;
}
