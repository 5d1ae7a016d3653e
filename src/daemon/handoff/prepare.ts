/** Prepares a handoff: reads inboxes, composes the text, and saves its manifest in the journal before it is sent. */
import { createHash, randomBytes } from 'node:crypto';
import type { Adapters, Limits } from '../adapter.ts';
import { bytesOf } from '../bundle/escape.ts';
import type { Common } from '../common.ts';
import { compose } from '../compose/compose.ts';
import { onlyFromAgents } from '../compose/modes.ts';
import type { Composed, ComposeInput, ComposeSeat, Point } from '../compose/types.ts';
import type { HandoffPath, HandoffRow, Manifest } from '../journal/rows.ts';
import type { Carry, HandoffId } from '../protocol.ts';
import { isFinal } from '../refs.ts';
import type { InboxRead } from '../server-link/link.ts';
import type { Servers } from '../server-link/servers.ts';
import type { GoneDeps } from '../sessions/gone.ts';
import type { Effects, InFlightHandoff, Seat, Session } from '../sessions/session.ts';
import { restoreFlight } from './flight.ts';
import { logHandoff } from './log-lines.ts';
import { noEffects, type OwnLines, ownLines } from './own-lines.ts';
import { closeIfFinished } from './parts.ts';

export interface PrepareDeps extends Common, GoneDeps {
  adapters: Adapters;
  servers: Servers;
}

/** A read that was complete at most this long ago is reused if it was sent after the session became reachable. */
const FRESH_US = 2_000_000;

export interface SeatRead {
  seat: Seat;
  read: InboxRead;
  generation: number;
}

/** Text that is ready to be sent, and its effects once it is accepted. */
export interface Offer {
  carry: Carry;
  /** Null if the text contains nothing to confirm. */
  manifest: Manifest | null;
  effects: Effects;
}

const paths: Record<Point, HandoffPath> = {
  wake: 'wait',
  turn_start: 'prompt',
  boundary: 'tool',
  turn_end: 'turn_end',
};

/** Reads the seats in parallel, each with its own token; a seat whose read fails is left out. */
export async function readSeats(
  deps: PrepareDeps,
  session: Session,
  freshUs: number | null,
  ms: number,
): Promise<SeatRead[]> {
  const reads = await Promise.all(readableSeats(deps, session).map((seat) => readSeat(deps, seat, freshUs, ms)));
  return reads.filter((read) => read !== null);
}

async function readSeat(deps: PrepareDeps, seat: Seat, freshUs: number | null, ms: number): Promise<SeatRead | null> {
  const { generation } = seat.row;
  const { latest } = seat;
  const oldest = deps.clock.nowUs() - FRESH_US;
  if (latest && freshUs !== null && latest.sentUs > freshUs && latest.atUs > oldest)
    return { seat, read: latest, generation };
  try {
    const read = await deps.servers.at(seat.row.origin).read(seat.row, { timeoutMs: ms });
    return { seat, read, generation };
  } catch {
    return null;
  }
}

/** The session's seats whose inbox can be read now. */
export const readableSeats = ({ servers }: Pick<PrepareDeps, 'servers'>, { seats }: Session): Seat[] =>
  [...seats].filter(
    (seat) => !seat.isReadByCommand && !isUnreadable(seat) && !servers.at(seat.row.origin).backsOff(seat.row),
  );

/** Whether a seat has ended, or its token cannot be used. */
export const isUnreadable = ({ row: { problem } }: Seat): boolean =>
  isFinal(problem) || problem === 'unauthorized' || problem === 'server_identity_changed';

/** Composes an offer from the reads; null if there is nothing to deliver. */
export function composeOffer(
  deps: PrepareDeps,
  session: Session,
  point: Point,
  reads: readonly SeatRead[],
  carrier: { kind?: HandoffPath | 'door'; asUser?: boolean } = {},
): Offer | null {
  const path = carrier.kind === 'door' ? 'wait' : (carrier.kind ?? paths[point]);
  const seats = reads
    .filter(({ seat }) => seat.session === session && !seat.isReadByCommand)
    .map((one) => composeSeat(deps, session, one, point));
  if (seats.length === 0) return null;
  const adapter = deps.adapters.of(session.row.harness);
  const own = carrier.asUser ? { text: '', effects: noEffects } : ownLines(deps, session);
  const current = session.currentSeats;
  const common: Omit<ComposeInput, 'handoffId'> = {
    point,
    seats,
    severalSeats: current.length > 1,
    severalServers: new Set(current.map(({ row }) => row.origin)).size > 1,
    limits: roomBeside(own, adapter.limits),
    reservedTags: adapter.reservedTags,
    peersLeft: peersLeftInTurn(deps, session, adapter.capabilities.has('midturn-peer')),
    now: deps.clock.now(),
    rotation: session.rotation,
    ...(carrier.asUser ? { ownerOnly: true } : {}),
    ...(path === 'wait' && !carrier.asUser && adapter.marksNotFromUser ? { notFromUser: true } : {}),
  };
  const offerAs = (id: HandoffId, frozen?: Manifest['messages']): Offer | null =>
    toOffer(deps, session, compose.compose({ ...common, handoffId: id, frozen }), { id, path, reads, own });
  // A postponed handoff is not repeated alone: its messages join the ones that end the delay.
  const postponed = session.agentsNotBeforeUs > deps.clock.nowUs();
  const earlier = point === 'boundary' ? undefined : earlierTry(deps, session);
  const repeated = earlier && !postponed ? offerAs(earlier.handoff.id, earlier.messages) : null;
  const isSame = repeated?.manifest?.handoff.payload_sha256 === earlier?.handoff.payload_sha256;
  const made = repeated && isSame ? repeated : offerAs(newHandoffId());
  if (!made) return null;
  if (made.manifest && earlier) made.manifest.handoff.attempts = earlier.handoff.attempts;
  if (onlyFromAgents(seats)) made.carry.by_agents = true;
  if (carrier.asUser) made.carry.as_user = true;
  return made;
}

/** The limits without the bytes of our own lines. */
function roomBeside({ text }: OwnLines, { bundle_bytes, context_bytes }: Limits): Limits {
  const bytes = text === '' ? 0 : bytesOf(text) + 1;
  return { bundle_bytes: Math.max(0, bundle_bytes - bytes), context_bytes: Math.max(0, context_bytes - bytes) };
}

/** An offer of our own lines alone; null if there are none. */
export function linesOffer(deps: PrepareDeps, session: Session): Offer | null {
  const { text, effects } = ownLines(deps, session);
  return text === '' ? null : { carry: { nudge: text }, manifest: null, effects };
}

export const newHandoffId = (): HandoffId => `hnd_${randomBytes(16).toString('hex')}`;

function peersLeftInTurn(deps: PrepareDeps, session: Session, can: boolean): number {
  if (!can || !session.capabilities.includes('midturn-peer')) return 0;
  return Math.max(0, 3 - deps.journal.peersInTurn(session.key, session.row.boot, session.row.turn_id));
}

/** The oldest handoff that must be repeated, with the same messages. */
function earlierTry(deps: PrepareDeps, session: Session): Manifest | undefined {
  const [oldest] = deps.journal.handoffsIn(['pending', 'retry'], session.key);
  return (oldest && deps.journal.manifest(oldest.id)) ?? undefined;
}

/** The seat as input for `compose`, with the messages that must not be delivered again. */
export function composeSeat(
  deps: PrepareDeps,
  session: Session,
  { seat, read }: Pick<SeatRead, 'seat' | 'read'>,
  point: Point,
): ComposeSeat {
  const { row } = seat;
  const { inbox } = read;
  const retry = new Set(deps.journal.messagesIn(row, ['pending', 'retry']).map((one) => one.message_id));
  const skip = new Set<string>(seat.received.keys());
  for (const one of deps.journal.messagesIn(row, ['prepared', 'handed', 'attention'])) skip.add(one.message_id);
  for (const one of deps.journal.shown(row, row.generation, session.row.boot)) skip.add(one.message_id);
  if (point === 'boundary')
    for (const one of deps.journal.truncatedInBoot(row, session.key, session.row.boot)) skip.add(one.message_id);
  for (const message of inbox.messages) if (message.seq <= row.cursor || seat.isAwaited(message)) skip.add(message.id);
  const told = new Set(
    deps.journal.noticesIn(row, ['prepared', 'handed', 'confirmed', 'attention']).map((one) => one.notice_id),
  );
  return {
    seat: seat.identity,
    inbox,
    outcomes: read.outcomes,
    mode: row.mode,
    announcedMode: seat.announcedMode,
    skip,
    retry,
    heldBack: session.heldBack,
    notices: seat.notices.filter(({ id }) => !told.has(id)),
    announcedUpTo: Math.max(row.cursor, deps.journal.announcedUpTo(row, session.key, session.row.boot)),
    nudged: (code, key) => deps.journal.nudged(row, code, key),
  };
}

function toOffer(
  deps: PrepareDeps,
  session: Session,
  composed: Composed,
  { id, path, reads, own }: { id: HandoffId; path: HandoffPath; reads: readonly SeatRead[]; own: OwnLines },
): Offer | null {
  const { bundle, notice, messages, notices } = composed;
  if (!composed.nudge && !bundle && !notice) return null;
  const nudge = [own.text, composed.nudge].filter(Boolean).join('\n') || undefined;
  const { nudges, modes, announced } = composed;
  const effects = { ...own.effects, nudges, modes, announced };
  const texts = { nudge, bundle, notice };
  const turn_id = session.row.turn_id;
  if (messages.length === 0 && notices.length === 0) return { carry: { ...texts, turn_id }, manifest: null, effects };
  const text = [nudge, bundle, notice].filter(Boolean).join('\n');
  const handoff: HandoffRow = {
    id,
    session_key: session.key,
    boot: session.row.boot,
    path,
    class: composed.class,
    payload_sha256: createHash('sha256').update(text).digest('hex'),
    bytes: Buffer.byteLength(text),
    state: 'prepared',
    attempts: 0,
    next_at: null,
    reason: null,
    turn_id,
    peers: composed.peers,
    created_at: deps.clock.now(),
    handed_at: null,
    accepted_at: null,
    turn_at: null,
    confirmed_at: null,
    stalled_at: null,
  };
  const withContent = new Set([...messages, ...notices].map(({ member_id, origin }) => `${origin} ${member_id}`));
  const parts = reads
    .filter(({ seat: { row } }) => withContent.has(`${row.origin} ${row.member_id}`))
    .map(({ seat: { row }, generation }) => ({
      handoff_id: id,
      origin: row.origin,
      member_id: row.member_id,
      board_id: row.board_id,
      generation,
      state: 'open' as const,
    }));
  const manifest = {
    handoff,
    parts,
    messages: messages.map((message) => ({ ...message, handoff_id: id })),
    notices: notices.map(({ origin, member_id, id: notice_id }) => ({ origin, member_id, notice_id, handoff_id: id })),
  };
  return { carry: { handoff_id: id, class: composed.class, ...texts, turn_id }, manifest, effects };
}

/** Saves the manifest; from then on the handoff is in flight. */
export function prepare(
  deps: PrepareDeps,
  session: Session,
  { manifest, effects }: Offer & { manifest: Manifest },
): InFlightHandoff {
  deps.faults.at('hand.prepare');
  const { handoff } = manifest;
  deps.journal.write(() => {
    deps.journal.saveManifest(manifest);
    supersede(deps, manifest);
  });
  session.rotation++;
  const flight: InFlightHandoff = { ...restoreFlight(handoff, null), exposed: false, effects };
  session.flight = flight;
  deps.faults.at('hand.prepared');
  logHandoff(deps, 'handoff_prepared', handoff.id);
  return flight;
}

/** Ends earlier attempts whose messages are all in this handoff. */
function supersede(deps: PrepareDeps, { handoff, messages }: Manifest): void {
  const now = new Set(messages.map(({ origin, member_id, message_id }) => `${origin} ${member_id} ${message_id}`));
  for (const old of deps.journal.handoffsIn(['pending', 'retry'])) {
    if (old.id === handoff.id) continue;
    const earlier = deps.journal.manifest(old.id)!;
    const left = earlier.messages.filter(({ origin, member_id, message_id, seq }) => {
      const seat = deps.seats.of({ origin, member_id });
      const gone = !seat || seq <= seat.row.cursor || seat.received.has(message_id);
      return !gone && !now.has(`${origin} ${member_id} ${message_id}`);
    });
    if (left.length > 0) continue;
    for (const part of earlier.parts) if (part.state === 'open') deps.journal.setPart(old.id, part, 'ended');
    deps.journal.updateHandoff(old.id, { reason: 'superseded' });
    closeIfFinished(deps, old.id);
  }
}

/** Records that the text was sent to its carrier. */
export function markHanded(deps: PrepareDeps, flight: InFlightHandoff): void {
  deps.journal.updateHandoff(flight.id, { state: 'handed', handed_at: deps.clock.now() });
  deps.faults.at('hand.handed');
  deps.metrics.count('handed');
  logHandoff(deps, 'handoff_handed', flight.id);
}
