/** Binds seats to sessions: a seat has one session, a session one seat per board. A move starts a new generation. */
import { ControlRefusal } from '../control/errors.ts';
import { dropOpenParts } from '../handoff/parts.ts';
import { isUnreadable } from '../handoff/prepare.ts';
import { type CursorDeps, follow } from '../inbox/cursor.ts';
import type { AgentRef } from '../protocol.ts';
import type { SeatIdentity } from '../refs.ts';
import type { Seat, Session } from './session.ts';

const MAX_SEATS = 20;

/**
 * Binds a seat whose token this machine holds. It replaces the session's other seat on that board. Another session that
 * holds the seat loses it, which is recorded.
 * @returns the replaced seat
 */
export function bindSeat(deps: CursorDeps, session: Session, identity: SeatIdentity): { previous?: AgentRef } {
  const { clock, journal, log, seats, servers, events } = deps;
  const seat = seats.getOrCreate(identity);
  const server = servers.at(identity.origin);
  // Binding a seat again retries one that had ended, and reports what is still wrong.
  const retries = isUnreadable(seat);
  if (seat.session === session) {
    if (retries) {
      seats.save(seat, { problem: null, problem_at: null });
      server.unwatch(seat.row);
      server.watch(seat.identity);
    }
    return {};
  }
  const { origin, member_id, board_id } = identity;
  const replaced = [...session.seats].find(
    ({ row }) => row.board_id === board_id && servers.isSame(row.origin, origin),
  );
  requireRoom(session, replaced);
  const holder = seat.session;
  const now = clock.now();
  const generation = seat.row.generation + 1;
  const row = { ...seat.row, ...identity, generation, problem: null, problem_at: null };
  journal.write(() => {
    journal.saveSeat(row);
    journal.saveBinding({ origin, member_id, generation, session_key: session.key, bound_at: now, told_mode: null });
    journal.removeLost(session.key, row);
    dropOpenParts(deps, seat);
    if (replaced) saveRelease(deps, replaced);
    if (holder)
      journal.saveLost({ ...seat.identity, session_key: holder.key, taken_by: session.key, at: now, told: 0 });
  });
  seat.row = row;
  holder?.seats.delete(seat);
  if (replaced) released(deps, replaced);
  seat.session = session;
  seat.announcedMode = null;
  seat.boundAt = now;
  session.seats.add(seat);
  const ids = { session: session.key, seats: [member_id] };
  log.write(holder ? 'moved' : 'bound', holder ? { ...ids, from: holder.key } : ids);
  if (retries) server.unwatch(seat.row);
  server.watch(seat.identity);
  if (holder) {
    holder.stopPreparing();
    events.emit('changed', holder);
    events.emit('unseated', holder);
  }
  events.emit('changed', session);
  events.emit('deliverable', session);
  return { previous: replaced?.ref };
}

/** Releases a seat; its server is not informed. */
export function releaseSeat(deps: CursorDeps, session: Session, seat: Seat): void {
  if (seat.session !== session) return;
  deps.journal.write(() => saveRelease(deps, seat));
  released(deps, seat);
  deps.events.emit('changed', session);
}

function saveRelease(deps: CursorDeps, seat: Seat): void {
  deps.journal.removeBinding(seat.row);
  deps.journal.saveSeat({ ...seat.row, generation: seat.row.generation + 1 });
  dropOpenParts(deps, seat);
}

function released(deps: CursorDeps, seat: Seat): void {
  seat.row = { ...seat.row, generation: seat.row.generation + 1 };
  const { session } = seat;
  session?.seats.delete(seat);
  seat.session = null;
  session?.stopPreparing();
  follow(deps, seat);
  deps.events.emit('released', seat.row);
}

/** @throws ControlRefusal if the session holds the maximum number of seats that have not ended */
export function requireRoom(session: Session, replaced?: Seat): void {
  const others = session.currentSeats.filter((seat) => seat !== replaced);
  if (others.length < MAX_SEATS) return;
  throw new ControlRefusal('invalid_request', `A session holds at most ${MAX_SEATS} seats.`, {
    hint: 'Leave a board: service agent leave',
  });
}
