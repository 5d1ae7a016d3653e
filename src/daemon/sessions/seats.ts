/** Seats and who holds them: one session each, one seat a board in a session, and a generation that outdates old holders. */
import { quoted } from '../bundle/escape.ts';
import type { Core } from '../core.ts';
import { ended } from '../handoff/prepare.ts';
import { dropOpenParts, endParts, moveCursor } from '../handoff/settle.ts';
import { arrived } from '../handoff/wake.ts';
import { JournalError } from '../journal/types.ts';
import {
  type AgentRef,
  ControlRefusal,
  finalProblems,
  type InboxRead,
  type Mode,
  type Notice,
  type OriginEvents,
  type SeatIdentity,
  type SeatProblem,
  type SeatRef,
  seatKey,
} from '../types.ts';
import { Seat } from './seat.ts';
import type { Session } from './session.ts';

const MAX_SEATS = 20;
/** Until what the journal did not take is tried again. */
const AGAIN_MS = 2_000;

export class Seats implements OriginEvents {
  readonly #core: Core;
  readonly #byKey = new Map<string, Seat>();

  /** Loads what the journal knows; sessions are there already. */
  constructor(core: Core) {
    this.#core = core;
    for (const row of core.journal.seats()) {
      const seat = new Seat(row);
      for (const one of core.journal.received(row)) seat.received.set(one.message_id, one.seq);
      this.#byKey.set(seatKey(row), seat);
    }
    for (const binding of core.journal.bindings()) {
      const seat = this.of(binding);
      const session = core.sessions.get(binding.session_key);
      if (!seat || !session) continue;
      seat.session = session;
      seat.toldMode = binding.told_mode;
      seat.boundAt = binding.bound_at;
      session.seats.add(seat);
    }
  }

  of(ref: SeatRef): Seat | null {
    return this.#byKey.get(seatKey(ref)) ?? null;
  }

  all(): Seat[] {
    return [...this.#byKey.values()];
  }

  bound(): Seat[] {
    return this.all().filter(({ session }) => session !== null);
  }

  /** Begins to follow every seat that is held or owes a receipt; the first read of each tells what was missed. */
  watchAll(): void {
    for (const seat of this.all())
      if (seat.session || seat.received.size > 0) this.#core.origins.at(seat.row.origin).watch(seat.identity);
  }

  /** Reads a seat whose last read did not bring everything, now that what it brought is over. */
  readOn({ row }: Seat): void {
    // What comes of it is told as every read is; one that fails is made good by the next.
    this.#core.origins
      .at(row.origin)
      .read(row)
      .catch(() => {});
  }

  /** Stops following a seat that nobody holds, once all that was received is acknowledged. */
  done(seat: Seat): void {
    if (seat.session || seat.received.size > 0) return;
    this.#core.origins.at(seat.row.origin).unwatch(seat.row);
  }

  /**
   * Binds a seat whose identity its own token proved. The session's other seat on that board is replaced, and another
   * session that holds the seat loses it and remembers that.
   */
  bind(session: Session, identity: SeatIdentity): { previous: AgentRef | null } {
    const core = this.#core;
    const seat = this.#ensure(identity);
    if (seat.session === session) {
      // One that was over is looked at again when it is bound again.
      if (ended(seat)) this.#revived(seat);
      return { previous: null };
    }
    const replaced = [...session.seats].find(
      (other) => other.row.origin === identity.origin && other.row.board_id === identity.board_id,
    );
    requireRoom(session, replaced);
    const holder = seat.session;
    const now = core.clock.now();
    const row = { ...seat.row, ...identity, generation: seat.row.generation + 1, problem: null, problem_at: null };
    core.journal.write(() => {
      core.journal.saveSeat(row);
      core.journal.saveBinding({
        origin: row.origin,
        member_id: row.member_id,
        session_key: session.key,
        generation: row.generation,
        bound_at: now,
        told_mode: null,
      });
      core.journal.removeLost(session.key, row);
      dropOpenParts(core, seat);
      if (replaced) this.#release(replaced);
      if (holder) core.journal.saveLost({ ...seat.identity, session_key: holder.key, taken_by: session.key, at: now });
    });
    seat.row = row;
    holder?.seats.delete(seat);
    if (replaced) this.#released(replaced);
    seat.session = session;
    seat.toldMode = null;
    seat.boundAt = now;
    session.seats.add(seat);
    const ids = { session: session.key, seats: [row.member_id] };
    core.log.write(holder ? 'moved' : 'bound', holder ? { ...ids, from: holder.key } : ids);
    core.origins.at(row.origin).watch(seat.identity);
    if (holder) {
      fence(holder);
      core.sessions.changed(holder);
    }
    core.sessions.changed(session);
    core.consider(session);
    return { previous: replaced?.ref ?? null };
  }

  /** Gives up a seat; on its server nothing changes. */
  unbind(session: Session, seat: Seat): void {
    if (seat.session !== session) return;
    this.#core.journal.write(() => this.#release(seat));
    this.#released(seat);
    this.#core.sessions.changed(session);
  }

  #release(seat: Seat): void {
    const { journal } = this.#core;
    journal.removeBinding(seat.row);
    journal.saveSeat({ ...seat.row, generation: seat.row.generation + 1 });
    dropOpenParts(this.#core, seat);
  }

  #released(seat: Seat): void {
    seat.row = { ...seat.row, generation: seat.row.generation + 1 };
    const { session } = seat;
    session?.seats.delete(seat);
    seat.session = null;
    if (session) fence(session);
    this.done(seat);
    this.#core.reports.released(seat.row);
  }

  /** Drops what is known to be received and not acknowledged: the server's cursor decides. */
  forgetReceived(seat: Seat): void {
    endParts(this.#core, seat);
  }

  #revived(seat: Seat): void {
    const { origin } = seat.row;
    this.#save(seat, { problem: null, problem_at: null });
    this.#core.origins.at(origin).unwatch(seat.row);
    this.#core.origins.at(origin).watch(seat.identity);
  }

  #ensure(identity: SeatIdentity): Seat {
    const known = this.of(identity);
    if (known) return known;
    const fresh = {
      cursor: 0,
      mode: 'focused' as Mode,
      mode_revision: 0,
      generation: 0,
      problem: null,
      problem_at: null,
    };
    const seat = new Seat({ ...identity, ...fresh });
    this.#byKey.set(seatKey(identity), seat);
    return seat;
  }

  /** The session has been told that the seat's mode is this one. */
  told(ref: SeatRef, mode: Mode): void {
    const seat = this.of(ref);
    if (!seat?.session) return;
    const { generation } = seat.row;
    const { origin, member_id } = ref;
    this.#core.journal.saveBinding({
      origin,
      member_id,
      session_key: seat.session.key,
      generation,
      bound_at: seat.boundAt,
      told_mode: mode,
    });
    seat.toldMode = mode;
  }

  /** A read of the seat's inbox is complete, whoever asked for it. */
  readDone(seat: Seat, read: InboxRead): void {
    if (seat.latest === read || (seat.latest && seat.latest.sentUs > read.sentUs)) return;
    const core = this.#core;
    const { inbox } = read;
    seat.latest = read;
    if (inbox.board !== seat.row.board || inbox.agent !== seat.row.name)
      this.#save(seat, { board: inbox.board, name: inbox.agent });
    this.#mode(seat, inbox.delivery_mode, inbox.delivery_revision);
    moveCursor(core, seat, inbox.cursor);
    const newest = inbox.messages.at(-1)?.seq ?? 0;
    const fresh = newest > seat.seenSeq;
    seat.seenSeq = Math.max(seat.seenSeq, newest);
    if (fresh && seat.session) arrived(core, seat.session);
    if (seat.received.size > 0) core.acks.want(seat);
  }

  /** A mode the server told; the higher revision wins. @returns whether it is another one now. */
  #mode(seat: Seat, mode: Mode, revision: number): boolean {
    const { mode: old, mode_revision: known } = seat.row;
    if (revision < known || (revision === known && mode === old)) return false;
    this.#save(seat, { mode, mode_revision: revision });
    if (mode === old) return false;
    this.#core.log.write('mode_changed', { seats: [seat.row.member_id], mode, revision });
    if (seat.session) this.#core.sessions.changed(seat.session);
    return true;
  }

  /** Applies a mode that a command was just answered. @returns whether it changed anything. */
  applyMode(seat: Seat, mode: Mode, revision: number): boolean {
    const changed = this.#mode(seat, mode, revision);
    if (changed && seat.session) this.#core.consider(seat.session);
    return changed;
  }

  #save(seat: Seat, change: Partial<Seat['row']>): void {
    const row = { ...seat.row, ...change };
    this.#core.journal.saveSeat(row);
    seat.row = row;
  }

  // ------------------------------------------------------------------------------------------ what servers tell

  inbox(ref: SeatRef, read: InboxRead): void {
    this.#about('inbox', ref, (seat) => {
      this.readDone(seat, read);
      if (seat.session) this.#core.consider(seat.session);
    });
  }

  read(ref: SeatRef, upTo: number): void {
    this.#about('read', ref, (seat) => moveCursor(this.#core, seat, upTo));
  }

  mode(ref: SeatRef, mode: Mode, revision: number): void {
    this.#about('mode', ref, (seat) => void this.applyMode(seat, mode, revision));
  }

  notices(ref: SeatRef, notices: Notice[]): void {
    this.#about('notices', ref, (seat) => {
      seat.notices = notices;
      if (seat.session) this.#core.consider(seat.session);
    });
  }

  token(ref: SeatRef): void {
    this.#about('token', ref, (seat) => {
      const core = this.#core;
      core.journal.write(() => {
        this.#save(seat, { generation: seat.row.generation + 1, problem: null, problem_at: null });
        dropOpenParts(core, seat);
      });
      if (seat.session) fence(seat.session);
      core.acks.retry(seat);
    });
  }

  problem(ref: SeatRef, problem: SeatProblem | null): void {
    this.#about('problem', ref, (seat) => {
      const core = this.#core;
      if (seat.row.problem === problem) return;
      const change = { problem, problem_at: problem === null ? null : core.clock.now() };
      // That nothing can be made ready may be because nothing can be written: it is told all the same.
      if (problem === 'handoff_failed') seat.row = { ...seat.row, ...change };
      this.#save(seat, change);
      if (problem === null) {
        core.acks.retry(seat);
        if (seat.session) core.consider(seat.session);
        return;
      }
      if (finalProblems.includes(problem)) this.#over(seat, problem);
      // Evidence is kept: a new token acknowledges with it.
      if (problem === 'unauthorized') core.journal.write(() => dropOpenParts(core, seat, true));
      if (seat.session) core.sessions.changed(seat.session);
    });
  }

  /** Only this seat; its session's others go on. */
  #over(seat: Seat, problem: SeatProblem): void {
    const core = this.#core;
    endParts(core, seat);
    seat.latest = null;
    seat.notices = [];
    core.log.write('seat_ended', { seats: [seat.row.member_id], problem }, 'warn');
    if (!seat.session) return;
    fence(seat.session);
    seat.session.lines.push(`service: you are no longer on ${quoted(seat.row.board)}`);
  }

  /** What a server tells of a seat that is not followed any more concerns nobody. */
  #about(what: string, ref: SeatRef, work: (seat: Seat) => void): void {
    const seat = this.of(ref);
    if (!seat) return;
    // What could not be written down comes before what was told after it; of one kind the last word counts.
    if (seat.untold.size > 0) {
      seat.untold.delete(what);
      seat.untold.set(what, work);
      return;
    }
    try {
      work(seat);
    } catch (error) {
      const passes = error instanceof JournalError;
      this.#core.log.write(passes ? 'journal_error' : 'hook_error', { seats: [ref.member_id] }, 'error');
      if (!passes) return;
      seat.untold.set(what, work);
      this.#core.clock.after(AGAIN_MS, () => this.#tellAgain(seat));
    }
  }

  /** @throws JournalError while the journal still cannot be written; the clock then tries again. */
  #tellAgain(seat: Seat): void {
    for (const [what, work] of [...seat.untold]) {
      work(seat);
      seat.untold.delete(what);
    }
  }
}

/** @throws ControlRefusal for a session that holds as many as it can. */
export function requireRoom(session: Session, replaced?: Seat): void {
  if (replaced || session.seats.size < MAX_SEATS) return;
  throw new ControlRefusal('invalid_request', `A session holds at most ${MAX_SEATS} seats.`, {
    hint: 'Leave a board: service agent leave',
  });
}

/** Stops a handoff that is being made: its seats are others now. */
function fence(session: Session): void {
  if (session.preparing) session.again = true;
  session.preparing = null;
}
