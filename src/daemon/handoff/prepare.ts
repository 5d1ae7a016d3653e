/** Making a handoff: fresh reads, what of them may be given, the text, and its manifest in the journal before anybody sees it. */
import { createHash, randomBytes } from 'node:crypto';
import { ofAgentsAlone } from '../compose/modes.ts';
import type { Core } from '../core.ts';
import type { HandoffRow, Manifest } from '../journal/types.ts';
import type { Seat } from '../sessions/seat.ts';
import type { Effects, Flight, Session } from '../sessions/session.ts';
import {
  type Carry,
  type Composed,
  type ComposeInput,
  type ComposeSeat,
  finalProblems,
  type HandoffId,
  type HandoffPath,
  type InboxRead,
  type Point,
} from '../types.ts';
import { logHandoff } from './log-lines.ts';
import { settle } from './settle.ts';

/** A read this young still counts when it was sent after the session could be reached. */
const FRESH_US = 2_000_000;

export interface SeatRead {
  seat: Seat;
  read: InboxRead;
  generation: number;
}

/** Text that is ready to be given, and what it means when it is taken. */
export interface Offer {
  carry: Carry;
  /** Null where the text holds nothing that could be confirmed. */
  manifest: Manifest | null;
  effects: Effects;
  attempts: number;
}

const paths: Record<Point, HandoffPath> = {
  wake: 'wait',
  turn_start: 'prompt',
  boundary: 'tool',
  turn_end: 'turn_end',
};

/** Reads the seats with their own tokens, side by side; one whose read fails gives nothing now. */
export async function readSeats(core: Core, session: Session, freshUs: number | null, ms: number): Promise<SeatRead[]> {
  const seats = [...session.seats].filter((seat) => !seat.held && !ended(seat));
  const reads = await Promise.all(seats.map((seat) => readSeat(core, seat, freshUs, ms)));
  return reads.filter((read) => read !== null);
}

async function readSeat(core: Core, seat: Seat, freshUs: number | null, ms: number): Promise<SeatRead | null> {
  const { generation } = seat.row;
  const { latest } = seat;
  const oldest = core.clock.nowUs() - FRESH_US;
  if (latest && freshUs !== null && latest.sentUs > freshUs && latest.sentUs > oldest)
    return { seat, read: latest, generation };
  try {
    const read = await core.origins.at(seat.row.origin).read(seat.row, { timeoutMs: ms });
    core.seats.readDone(seat, read);
    return { seat, read, generation };
  } catch {
    return null;
  }
}

export const ended = ({ row }: Seat): boolean =>
  row.problem !== null &&
  (finalProblems.includes(row.problem) || ['unauthorized', 'server_identity_changed'].includes(row.problem));

/** Chooses and renders. Null where there is nothing to say. */
export function offer(
  core: Core,
  session: Session,
  point: Point,
  reads: readonly SeatRead[],
  carrier: { kind?: HandoffPath | 'door'; asUser?: boolean } = {},
): Offer | null {
  const path = carrier.kind === 'door' ? 'wait' : (carrier.kind ?? paths[point]);
  const seats = reads
    .filter(({ seat }) => seat.session === session && !seat.held)
    .map((one) => composeSeat(core, session, one, point));
  if (seats.length === 0) return null;
  const adapter = core.adapters.of(session.row.harness);
  const common: Omit<ComposeInput, 'handoffId'> = {
    point,
    seats,
    severalSeats: session.seats.size > 1,
    severalServers: new Set([...session.seats].map(({ row }) => row.origin)).size > 1,
    limits: adapter.limits,
    reservedTags: adapter.reservedTags,
    peersLeft: peersLeft(core, session, adapter.capabilities.has('midturn-peer')),
    now: core.clock.now(),
    rotation: session.rotation,
    ...(carrier.asUser ? { ownerOnly: true } : {}),
    ...(path === 'wait' && !carrier.asUser && adapter.disowns ? { disowned: true } : {}),
  };
  // What was put off comes together with what ends the wait.
  const putOff = session.agentsNotBeforeUs > core.clock.nowUs();
  const earlier = point === 'boundary' || putOff ? undefined : earlierTry(core, session);
  if (earlier) {
    const composed = core.compose.compose({ ...common, handoffId: earlier.handoff.id, frozen: earlier.messages });
    const made = asOffer(core, session, composed, earlier.handoff.id, path, reads);
    if (made?.manifest?.handoff.payload_sha256 === earlier.handoff.payload_sha256) {
      made.attempts = earlier.handoff.attempts;
      made.manifest.handoff.attempts = earlier.handoff.attempts;
      return marked(made, seats, carrier);
    }
  }
  const id = newHandoffId();
  const made = asOffer(core, session, core.compose.compose({ ...common, handoffId: id }), id, path, reads);
  if (made?.manifest && earlier) {
    made.attempts = earlier.handoff.attempts;
    made.manifest.handoff.attempts = earlier.handoff.attempts;
  }
  return marked(made, seats, carrier);
}

function marked(
  made: Offer | null,
  seats: readonly ComposeSeat[],
  { asUser = false }: { asUser?: boolean },
): Offer | null {
  if (made && ofAgentsAlone(seats)) made.carry.by_agents = true;
  if (made && asUser) made.carry.as_user = true;
  return made;
}

const newHandoffId = (): HandoffId => `hnd_${randomBytes(16).toString('hex')}`;

function peersLeft(core: Core, session: Session, can: boolean): number {
  if (!can || !session.capabilities.includes('midturn-peer')) return 0;
  return Math.max(0, 3 - core.journal.peersInTurn(session.key, session.row.boot, session.row.turn_id));
}

/** The one that has to be given again; its selection stands. */
function earlierTry(core: Core, session: Session): Manifest | undefined {
  const [oldest] = core.journal.handoffsIn(['pending', 'retry'], session.key);
  return (oldest && core.journal.manifest(oldest.id)) ?? undefined;
}

/** A seat as the choosing sees it: what must not be given again is named. */
export function composeSeat(
  core: Core,
  session: Session,
  { seat, read }: Pick<SeatRead, 'seat' | 'read'>,
  point: Point,
): ComposeSeat {
  const { row } = seat;
  const { inbox } = read;
  const again = new Set(core.journal.messagesIn(row, ['pending', 'retry']).map((one) => one.message_id));
  for (const message of session.owed) again.add(message);
  const skip = new Set<string>(seat.received.keys());
  for (const one of core.journal.messagesIn(row, ['prepared', 'handed', 'attention'])) skip.add(one.message_id);
  for (const one of core.journal.shown(row, row.generation, session.row.boot)) skip.add(one.message_id);
  if (point === 'boundary')
    for (const one of core.journal.cutInBoot(row, session.key, session.row.boot)) skip.add(one.message_id);
  for (const message of inbox.messages) if (message.seq <= row.cursor || seat.keepsBack(message)) skip.add(message.id);
  const told = new Set(core.journal.noticesIn(row, ['prepared', 'handed', 'confirmed']).map((one) => one.notice_id));
  return {
    seat: seat.identity,
    inbox,
    fates: read.fates,
    mode: row.mode,
    toldMode: seat.toldMode,
    skip,
    again,
    notices: seat.notices.filter(({ id }) => !told.has(id)),
    announcedUpTo: Math.max(row.cursor, core.journal.announcedUpTo(row, session.key, session.row.boot)),
    nudged: (code, key) => core.journal.nudged(row, code, key),
  };
}

function asOffer(
  core: Core,
  session: Session,
  composed: Composed,
  id: HandoffId,
  path: HandoffPath,
  reads: readonly SeatRead[],
): Offer | null {
  const { nudge, bundle, notice, messages, notices } = composed;
  if (!nudge && !bundle && !notice) return null;
  const { nudges, modes, announced } = composed;
  const effects = { nudges, modes, announced };
  const texts = { ...(nudge ? { nudge } : {}), ...(bundle ? { bundle } : {}), ...(notice ? { notice } : {}) };
  const turn_id = session.row.turn_id;
  if (messages.length === 0 && notices.length === 0)
    return { carry: { ...texts, turn_id }, manifest: null, effects, attempts: 0 };
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
    created_at: core.clock.now(),
    handed_at: null,
    accepted_at: null,
    turn_at: null,
    confirmed_at: null,
    stalled_at: null,
  };
  const there = new Set([...messages, ...notices].map(({ member_id, origin }) => `${origin} ${member_id}`));
  const parts = reads
    .filter(({ seat: { row } }) => there.has(`${row.origin} ${row.member_id}`))
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
  return { carry: { handoff_id: id, class: composed.class, ...texts, turn_id }, manifest, effects, attempts: 0 };
}

/** Makes the manifest durable; from now on the messages are on their way. */
export function prepare(
  core: Core,
  session: Session,
  { manifest, effects, attempts }: Offer & { manifest: Manifest },
): Flight {
  core.faults.at('hand.prepare');
  const { handoff } = manifest;
  core.journal.write(() => {
    core.journal.saveManifest(manifest);
    supersede(core, manifest);
  });
  session.rotation++;
  const flight: Flight = {
    id: handoff.id,
    path: handoff.path,
    boot: handoff.boot,
    exposed: false,
    acceptedUs: null,
    echoed: false,
    stalled: false,
    attempts,
    effects,
    cancelStall: () => {},
  };
  session.flight = flight;
  core.faults.at('hand.prepared');
  logHandoff(core, 'handoff_prepared', handoff.id);
  return flight;
}

/** Earlier tries whose messages all stand in this one are over. */
function supersede(core: Core, { handoff, messages }: Manifest): void {
  const now = new Set(messages.map(({ origin, member_id, message_id }) => `${origin} ${member_id} ${message_id}`));
  for (const old of core.journal.handoffsIn(['pending', 'retry'])) {
    if (old.id === handoff.id) continue;
    const earlier = core.journal.manifest(old.id)!;
    const left = earlier.messages.filter(({ origin, member_id, message_id, seq }) => {
      const seat = core.seats.of({ origin, member_id });
      const gone = !seat || seq <= seat.row.cursor || seat.received.has(message_id);
      return !gone && !now.has(`${origin} ${member_id} ${message_id}`);
    });
    if (left.length > 0) continue;
    for (const part of earlier.parts) if (part.state === 'open') core.journal.setPart(old.id, part, 'ended');
    core.journal.updateHandoff(old.id, { reason: 'superseded' });
    settle(core, old.id);
  }
}

/** The text was exposed to its carrier. */
export function handed(core: Core, flight: Flight): void {
  core.journal.updateHandoff(flight.id, { state: 'handed', handed_at: core.clock.now() });
  core.faults.at('hand.handed');
  core.metrics.count('handed');
  logHandoff(core, 'handoff_handed', flight.id);
}
