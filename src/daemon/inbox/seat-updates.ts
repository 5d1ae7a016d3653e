/** Applies updates from servers about seats: reads, cursors, modes, notices, problems and tokens. */
import type { DeliveryMode } from '../../contract/types.ts';
import { recordArrival } from '../handoff/batching.ts';
import { dropOldNotices, dropOpenParts, endParts } from '../handoff/parts.ts';
import { JournalError } from '../journal/journal.ts';
import type { SeatProblem } from '../protocol.ts';
import { isFinal, type SeatRef } from '../refs.ts';
import type { InboxRead, ServerEvents } from '../server-link/link.ts';
import type { Seat } from '../sessions/session.ts';
import type { Acknowledger } from './acknowledge.ts';
import { advanceCursor, type CursorDeps, follow, resetSeat } from './cursor.ts';

/** Delay before an update that the journal could not write is applied again. */
const RETRY_MS = 2_000;

interface SeatUpdatesDeps extends CursorDeps {
  acks: Acknowledger;
}

export class SeatUpdates {
  readonly #deps: SeatUpdatesDeps;

  constructor(deps: SeatUpdatesDeps) {
    this.#deps = deps;
  }

  /** Subscribes to the events of servers. */
  listen(servers: ServerEvents): void {
    servers.on('inbox', (ref, read) =>
      this.#update('inbox', ref, (seat) => {
        this.#applyRead(seat, read);
        this.#deliverable(seat);
      }),
    );
    servers.on('read', (ref, upTo) => this.#update('read', ref, (seat) => advanceCursor(this.#deps, seat, upTo)));
    servers.on('mode', (ref, mode, revision) =>
      this.#update('mode', ref, (seat) => void this.applyMode(seat, mode, revision)),
    );
    servers.on('notices', (ref, notices) =>
      this.#update('notices', ref, (seat) => {
        seat.notices = notices;
        dropOldNotices(this.#deps, seat.row, notices);
        this.#deliverable(seat);
        follow(this.#deps, seat);
      }),
    );
    servers.on('problem', (ref, problem) => this.problem(ref, problem));
    servers.on('token', (ref) => this.#update('token', ref, (seat) => this.#newToken(seat)));
  }

  #applyRead(seat: Seat, read: InboxRead): void {
    if (seat.latest === read || (seat.latest && seat.latest.sentUs > read.sentUs)) return;
    const { clock, seats, acks, events } = this.#deps;
    const { inbox } = read;
    const { cursor, mode_revision } = seat.row;
    const isCursorBack = inbox.cursor < cursor && read.sentUs > seat.cursorUs;
    const isModeBack = inbox.delivery_revision < mode_revision && read.sentUs > seat.modeUs;
    if (isCursorBack || isModeBack) resetSeat(this.#deps, seat, isCursorBack ? inbox.cursor : cursor);
    const isFirst = !seat.latest;
    seat.latest = read;
    if (inbox.board !== seat.row.board || inbox.agent !== seat.row.name)
      seats.save(seat, { board: inbox.board, name: inbox.agent });
    const changed = this.#saveMode(seat, inbox.delivery_mode, inbox.delivery_revision);
    if (isFirst && !changed && seat.session) events.emit('changed', seat.session);
    advanceCursor(this.#deps, seat, inbox.cursor);
    const newest = inbox.messages.at(-1)?.seq ?? 0;
    const fresh = newest > seat.seenSeq;
    seat.seenSeq = Math.max(seat.seenSeq, newest);
    if (fresh && seat.session) recordArrival(seat.session, clock.nowUs());
    if (seat.received.size > 0) acks.schedule(seat);
  }

  /** Saves a mode from the server; the higher revision wins. @returns whether the mode changed */
  #saveMode(seat: Seat, mode: DeliveryMode, revision: number): boolean {
    const { mode: old, mode_revision: known } = seat.row;
    if (revision < known || (revision === known && mode === old)) return false;
    this.#deps.seats.save(seat, { mode, mode_revision: revision });
    seat.modeUs = this.#deps.clock.nowUs();
    if (mode === old) return false;
    this.#deps.log.write('mode_changed', { seats: [seat.row.member_id], mode, revision });
    if (seat.session) this.#deps.events.emit('changed', seat.session);
    return true;
  }

  /** Applies a mode from the answer to a command. @returns whether it changed */
  applyMode(seat: Seat, mode: DeliveryMode, revision: number): boolean {
    const changed = this.#saveMode(seat, mode, revision);
    if (changed) this.#deliverable(seat);
    return changed;
  }

  #deliverable({ session }: Seat): void {
    if (session) this.#deps.events.emit('deliverable', session);
  }

  #newToken(seat: Seat): void {
    const { journal, seats, acks } = this.#deps;
    journal.write(() => {
      seats.save(seat, { generation: seat.row.generation + 1, problem: null, problem_at: null });
      dropOpenParts(this.#deps, seat);
    });
    seat.session?.stopPreparing();
    acks.retry(seat);
  }

  problem(ref: SeatRef, problem: SeatProblem | null): void {
    this.#update('problem', ref, (seat) => {
      const { clock, journal, seats, acks, events } = this.#deps;
      if (seat.row.problem === problem) return;
      // The problem is saved after this, so that a failed write is repeated with all that follows from it.
      if (isFinal(problem)) endParts(this.#deps, seat);
      // Handoffs in flight are kept: a new token can acknowledge them.
      if (problem === 'unauthorized') journal.write(() => dropOpenParts(this.#deps, seat, true));
      const change = { problem, problem_at: problem === null ? null : clock.now() };
      // A delivery may fail because the journal cannot be written; the problem is shown anyway.
      if (problem === 'handoff_failed') seat.row = { ...seat.row, ...change };
      seats.save(seat, change);
      if (problem === null) {
        acks.retry(seat);
        this.#deliverable(seat);
        return;
      }
      if (isFinal(problem)) this.#seatEnded(seat, problem);
      if (seat.session) events.emit('changed', seat.session);
    });
  }

  /** Ends this seat; other seats of its session continue. */
  #seatEnded(seat: Seat, problem: SeatProblem): void {
    seat.latest = null;
    seat.notices = [];
    this.#deps.log.write('seat_ended', { seats: [seat.row.member_id], problem }, 'warn');
    if (!seat.session) return;
    seat.session.stopPreparing();
    this.#deps.events.emit('unseated', seat.session);
  }

  /** Applies an update of a seat; updates of unknown seats are ignored. */
  #update(what: string, ref: SeatRef, work: (seat: Seat) => void): void {
    const seat = this.#deps.seats.of(ref);
    if (!seat) return;
    // Earlier updates that could not be written are applied first; only the latest of a kind is kept.
    if (seat.pendingUpdates.size > 0) {
      seat.pendingUpdates.delete(what);
      seat.pendingUpdates.set(what, work);
      return;
    }
    try {
      work(seat);
    } catch (error) {
      const passes = error instanceof JournalError;
      this.#deps.log.write(passes ? 'journal_error' : 'hook_error', { seats: [ref.member_id] }, 'error');
      if (!passes) return;
      seat.pendingUpdates.set(what, work);
      this.#deps.clock.after(RETRY_MS, () => this.#retryUpdates(seat));
    }
  }

  /** @throws JournalError while the journal cannot be written; the clock then retries */
  #retryUpdates(seat: Seat): void {
    for (const [what, work] of [...seat.pendingUpdates]) {
      work(seat);
      seat.pendingUpdates.delete(what);
    }
  }
}
