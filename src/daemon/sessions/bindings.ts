/** Binds seats to sessions: a seat has one session, a session one seat per board. A move starts a new generation. */
import type { DaemonClock } from '../clock.ts';
import { ControlRefusal } from '../control/errors.ts';
import { dropOpenParts } from '../handoff/parts.ts';
import { isUnreadable } from '../handoff/prepare.ts';
import { stopFollowing } from '../inbox/cursor.ts';
import type { Journal } from '../journal/journal.ts';
import type { Log } from '../log.ts';
import type { AgentRef } from '../protocol.ts';
import type { SeatIdentity } from '../refs.ts';
import type { Servers } from '../server-link/servers.ts';
import type { SessionEvents } from './events.ts';
import type { SeatRegistry } from './seat-registry.ts';
import type { Seat, Session } from './session.ts';

const MAX_SEATS = 20;

interface BindingsDeps {
  clock: DaemonClock;
  journal: Journal;
  log: Log;
  seats: SeatRegistry;
  servers: Servers;
  events: SessionEvents;
}

export class Bindings {
  readonly #deps: BindingsDeps;

  constructor(deps: BindingsDeps) {
    this.#deps = deps;
  }

  /**
   * Binds a seat whose token this machine holds. It replaces the session's other seat on that board. Another session that
   * holds the seat loses it, which is recorded.
   */
  bind(session: Session, identity: SeatIdentity): { previous: AgentRef | null } {
    const { clock, journal, log, seats, servers, events } = this.#deps;
    const seat = seats.getOrCreate(identity);
    if (seat.session === session) {
      // Binding a seat again retries one that had ended.
      if (isUnreadable(seat)) this.#followAgain(seat);
      return { previous: null };
    }
    const replaced = [...session.seats].find(
      (other) => other.row.origin === identity.origin && other.row.board_id === identity.board_id,
    );
    requireRoom(session, replaced);
    const holder = seat.session;
    const now = clock.now();
    const row = { ...seat.row, ...identity, generation: seat.row.generation + 1, problem: null, problem_at: null };
    journal.write(() => {
      journal.saveSeat(row);
      journal.saveBinding({
        origin: row.origin,
        member_id: row.member_id,
        session_key: session.key,
        generation: row.generation,
        bound_at: now,
        told_mode: null,
      });
      journal.removeLost(session.key, row);
      dropOpenParts(this.#deps, seat);
      if (replaced) this.#saveRelease(replaced);
      if (holder) journal.saveLost({ ...seat.identity, session_key: holder.key, taken_by: session.key, at: now });
    });
    seat.row = row;
    holder?.seats.delete(seat);
    if (replaced) this.#released(replaced);
    seat.session = session;
    seat.announcedMode = null;
    seat.boundAt = now;
    session.seats.add(seat);
    const ids = { session: session.key, seats: [row.member_id] };
    log.write(holder ? 'moved' : 'bound', holder ? { ...ids, from: holder.key } : ids);
    servers.at(row.origin).watch(seat.identity);
    if (holder) {
      holder.stopPreparing();
      events.emit('changed', holder);
    }
    events.emit('changed', session);
    events.emit('deliverable', session);
    return { previous: replaced?.ref ?? null };
  }

  /** Releases a seat; its server is not informed. */
  unbind(session: Session, seat: Seat): void {
    if (seat.session !== session) return;
    this.#deps.journal.write(() => this.#saveRelease(seat));
    this.#released(seat);
    this.#deps.events.emit('changed', session);
  }

  #saveRelease(seat: Seat): void {
    const { journal } = this.#deps;
    journal.removeBinding(seat.row);
    journal.saveSeat({ ...seat.row, generation: seat.row.generation + 1 });
    dropOpenParts(this.#deps, seat);
  }

  #released(seat: Seat): void {
    seat.row = { ...seat.row, generation: seat.row.generation + 1 };
    const { session } = seat;
    session?.seats.delete(seat);
    seat.session = null;
    session?.stopPreparing();
    stopFollowing(this.#deps.servers, seat);
    this.#deps.events.emit('released', seat.row);
  }

  #followAgain(seat: Seat): void {
    this.#deps.seats.save(seat, { problem: null, problem_at: null });
    const server = this.#deps.servers.at(seat.row.origin);
    server.unwatch(seat.row);
    server.watch(seat.identity);
  }
}

/** @throws ControlRefusal if the session holds the maximum number of seats */
export function requireRoom(session: Session, replaced?: Seat): void {
  if (replaced || session.seats.size < MAX_SEATS) return;
  throw new ControlRefusal('invalid_request', `A session holds at most ${MAX_SEATS} seats.`, {
    hint: 'Leave a board: service agent leave',
  });
}
