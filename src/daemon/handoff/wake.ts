/** Wakes an idle session: at once for the first message, batched for messages that arrive around a delivery. */
import type { CarrierState } from '../adapter.ts';
import { compose } from '../compose/compose.ts';
import { isOwners, onlyFromAgents, waitingOf, waitsForPerson } from '../compose/modes.ts';
import type { ComposeSeat } from '../compose/types.ts';
import type { Peer } from '../control/peer.ts';
import type { SeatUpdates } from '../inbox/seat-updates.ts';
import { JournalError } from '../journal/journal.ts';
import type { Manifest } from '../journal/rows.ts';
import type { Doors } from '../sessions/doors.ts';
import type { Session } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { batchDueUs } from './batching.ts';
import { awaitCarrier, backToPending, cancelUnexposed } from './flight.ts';
import type { HookDeps } from './hand-to-hook.ts';
import {
  composeOffer,
  composeSeat,
  isUnreadable,
  markHanded,
  type Offer,
  prepare,
  readSeats,
  type SeatRead,
} from './prepare.ts';
import { handToQueue } from './queue.ts';
import { confirm, type ReceiptDeps } from './receipt.ts';

const READ_TIMEOUT_MS = 3_000;
const RETRY_MS = { first: 2_000, max: 300_000 };

export interface WakeDeps extends HookDeps, ReceiptDeps {
  doors: Doors;
  sessions: Sessions;
  updates: SeatUpdates;
}

type Carrier =
  | { kind: 'wait' | 'extension'; peer: Peer }
  /** With `asUser` it carries only messages of the session's person, submitted as their prompt. */
  | { kind: 'door'; peer: Peer; asUser: boolean }
  | { kind: 'queue' };

/** The carrier that can reach an idle session now. */
function findCarrier(deps: WakeDeps, session: Session): Carrier | null {
  if (!session.row.open) return null;
  const adapter = deps.adapters.of(session.row.harness);
  const hasDoor = adapter.capabilities.has('owner-door') && !session.unheard;
  const door = hasDoor ? deps.doors.of(session, deps.sessions.open()) : null;
  if (adapter.canHand(carrierState(session, door !== null)) !== 'now') return null;
  if (door && session.turn !== 'busy' && ownerMessageWaits(deps, session))
    return { kind: 'door', peer: door, asUser: true };
  if (session.waiting) return { kind: 'wait', peer: session.waiting.peer };
  if (session.extension?.welcomed)
    return session.turn === 'busy' ? null : { kind: 'extension', peer: session.extension.peer };
  if (door) return session.turn === 'busy' ? null : { kind: 'door', peer: door, asUser: false };
  return adapter.capabilities.has('queue') ? { kind: 'queue' } : null;
}

/** Whether a message of its person waits that may wake it. */
const ownerMessageWaits = (deps: WakeDeps, session: Session): boolean =>
  seatsAsRead(deps, session).some((seat) => seat.mode !== 'off' && waitingOf(seat).some(isOwners));

/** Ids of the messages that would come with those of its person, and are not from them. */
const otherMessageIds = (deps: WakeDeps, session: Session, reads: readonly SeatRead[]): ReadonlySet<string> =>
  new Set(
    reads
      .map((read) => composeSeat(deps, session, read, 'wake'))
      .filter((seat) => !waitsForPerson(seat))
      .flatMap((seat) => waitingOf(seat).flatMap((message) => (isOwners(message) ? [] : [message.id]))),
  );

const carrierState = ({ turn, waiting, extension }: Session, door: boolean): CarrierState => ({
  turn,
  waiting: waiting !== null,
  extension: extension?.welcomed === true,
  door,
});

/** Wakes the session if it has to be woken now. Called after every change that could matter. */
export function wakeIfDue(deps: WakeDeps, session: Session): void {
  session.cancelTimer();
  session.cancelTimer = () => {};
  if (deps.stopping.aborted || session.flight) return;
  if (session.preparing) {
    session.rerun = true;
    return;
  }
  const wakes = shouldWake(deps, session);
  // What could not be delivered was received in another way.
  if (!wakes && session.failures > 0) failuresOver(deps, session);
  if (!wakes || !findCarrier(deps, session)) return;
  const now = deps.clock.nowUs();
  const due = Math.max(
    session.notBeforeUs,
    session.batching ? batchDueUs(session) : 0,
    onlyAgents(deps, session) ? session.agentsNotBeforeUs : 0,
  );
  if (due > now) {
    session.cancelTimer = deps.clock.after(Math.ceil((due - now) / 1000), () => wakeIfDue(deps, session));
    return;
  }
  session.batching = false;
  void hand(deps, session);
}

const shouldWake = (deps: WakeDeps, session: Session): boolean => seatsAsRead(deps, session).some(compose.wakes);

const onlyAgents = (deps: WakeDeps, session: Session): boolean => onlyFromAgents(seatsAsRead(deps, session));

/** The session's seats with their last reads. */
const seatsAsRead = (deps: WakeDeps, session: Session): ComposeSeat[] =>
  [...session.seats].flatMap((seat) => {
    if (!seat.latest || seat.isReadByCommand || isUnreadable(seat)) return [];
    return [composeSeat(deps, session, { seat, read: seat.latest }, 'wake')];
  });

/** Delivers what waits: reads, checks, composes, prepares and sends; each step only if the previous one succeeded. */
async function hand(deps: WakeDeps, session: Session): Promise<void> {
  const token = {};
  const carrier = findCarrier(deps, session);
  const { boot } = session.row;
  session.preparing = token;
  session.rerun = false;
  let given = false;
  try {
    deps.faults.at('hand.ready');
    const reads = await readSeats(deps, session, session.readyUs, READ_TIMEOUT_MS);
    deps.faults.at('hand.read');
    if (!isUnchanged(deps, session, { token, carrier, boot, reads })) return;
    // The mode or the inbox may have changed meanwhile.
    if (!reads.some((read) => compose.wakes(composeSeat(deps, session, read, 'wake')))) return;
    const made = composeOffer(deps, session, 'wake', reads, carrier!);
    deps.faults.at('hand.chosen');
    if (!made) return;
    deps.faults.at('hand.checked');
    if (carrier?.kind === 'door' && carrier.asUser) session.heldBack = otherMessageIds(deps, session, reads);
    expose(deps, session, made, carrier!);
    given = true;
    failuresOver(deps, session);
    recordDelay(deps, reads, made);
  } catch (error) {
    cancelUnexposed(deps, session);
    retryLater(deps, session, error);
  } finally {
    if (session.preparing === token) session.preparing = null;
    if (!given && session.rerun) wakeIfDue(deps, session);
  }
}

/** Whether carrier, boot and generations are unchanged and no other handoff is in flight. */
function isUnchanged(
  deps: WakeDeps,
  session: Session,
  { token, carrier, boot, reads }: { token: object; carrier: Carrier | null; boot: string; reads: SeatRead[] },
): boolean {
  if (deps.stopping.aborted || session.preparing !== token || session.flight || session.row.boot !== boot) return false;
  const now = findCarrier(deps, session);
  if (!now || !carrier || now.kind !== carrier.kind) return false;
  if (now.kind !== 'queue' && carrier.kind !== 'queue' && now.peer !== carrier.peer) return false;
  if (now.kind === 'door' && carrier.kind === 'door' && now.asUser !== carrier.asUser) return false;
  return reads.every(({ seat, generation }) => seat.session === session && seat.row.generation === generation);
}

function expose(deps: WakeDeps, session: Session, made: Offer, carrier: Carrier): void {
  // Text without anything to confirm does not wake a session.
  if (!made.manifest) return;
  const whole = made as Offer & { manifest: Manifest };
  const flight = prepare(deps, session, whole);
  deps.metrics.count('wakes');
  if (carrier.kind === 'queue') {
    flight.exposed = true;
    markHanded(deps, flight);
    deps.events.emit('changed', session);
    void handToQueue(deps, session, flight, made.carry);
    deps.faults.at('hand.exposed');
    return;
  }
  const { peer } = carrier;
  // For an extension, accepting the text is also its receipt.
  awaitCarrier(deps, session, flight, peer, () => carrier.kind === 'extension' && confirm(deps, session, flight));
  const sent = peer.sendEvent({ event: 'deliver', ...made.carry });
  flight.exposed = sent;
  deps.faults.at('hand.exposed');
  // A hook delivers only once.
  if (carrier.kind === 'wait') session.waiting = null;
  if (!sent) backToPending(deps, session, flight, 'write_failed');
  else if (session.flight === flight) markHanded(deps, flight);
}

function recordDelay(deps: WakeDeps, reads: readonly SeatRead[], { manifest }: Offer): void {
  if (!manifest) return;
  const ids = new Set(manifest.messages.map(({ message_id }) => message_id));
  const times = reads.flatMap(({ read }) => read.inbox.messages.filter(({ id }) => ids.has(id)).map(({ at }) => at));
  const newest = Math.max(...times.map((at) => Date.parse(at)));
  if (Number.isFinite(newest)) deps.metrics.addDelivery(Math.max(0, deps.clock.now() - newest));
}

function failuresOver(deps: WakeDeps, session: Session): void {
  session.failures = 0;
  for (const seat of session.seats) if (seat.row.problem === 'handoff_failed') deps.updates.problem(seat.row, null);
}

/** Schedules another attempt after an error, with exponential backoff. */
function retryLater(deps: WakeDeps, session: Session, error: unknown): void {
  const ms = Math.min(RETRY_MS.max, RETRY_MS.first * 2 ** session.failures);
  session.failures++;
  session.notBeforeUs = deps.clock.nowUs() + ms * 1000;
  const ev = error instanceof JournalError ? 'journal_error' : 'hook_error';
  deps.log.write(ev, { session: session.key, ms, code: error instanceof Error ? error.name : 'unknown' }, 'error');
  for (const seat of session.seats) deps.updates.problem(seat.row, 'handoff_failed');
  session.rerun = true;
}
