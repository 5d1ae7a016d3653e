/** A seat's cursor: the number up to which everything is acknowledged on its server. */
import type { Common } from '../common.ts';
import { closeIfFinished, endParts, isInFlight } from '../handoff/parts.ts';
import { isFinal } from '../refs.ts';
import type { Servers } from '../server-link/servers.ts';
import type { Seat } from '../sessions/session.ts';

export interface CursorDeps extends Common {
  servers: Servers;
}

/** Saves the server's cursor of a seat, which only grows, and closes the parts that it has passed. */
export function advanceCursor(deps: CursorDeps, seat: Seat, upTo: number): void {
  const { journal, servers, events } = deps;
  if (upTo <= seat.row.cursor) return;
  const row = { ...seat.row, cursor: upTo };
  const touched = journal.write(() => {
    journal.saveSeat(row);
    journal.dropReceived(seat.row, upTo);
    journal.dropShown(seat.row, upTo);
    const passed = journal
      .partsOf(seat.row, ['open', 'confirmed'])
      .filter((part) => part.last_seq <= upTo && part.notices === 0 && !isInFlight(part.handoff_state));
    for (const part of passed) journal.setPart(part.handoff_id, part, 'acked');
    return passed.map((part) => part.handoff_id);
  });
  seat.row = row;
  seat.cursorUs = deps.clock.nowUs();
  for (const [id, seq] of seat.received) if (seq <= upTo) seat.received.delete(id);
  for (const id of new Set(touched)) closeIfFinished(deps, id);
  if (seat.session) events.emit('changed', seat.session);
  // The last read was incomplete and all of it is acknowledged, so the inbox is read again.
  const { completeUpTo = null } = seat.latest ?? {};
  // The read emits an event; a failed read is repaired by the next one.
  if (completeUpTo !== null && upTo >= completeUpTo)
    servers
      .at(row.origin)
      .read(row)
      .catch(() => {});
  follow(deps, seat);
}

/** Takes a cursor or mode that went back, because the server was restored: what follows the cursor is delivered again. */
export function resetSeat(deps: CursorDeps, seat: Seat, cursor: number): void {
  const { journal } = deps;
  const row = { ...seat.row, cursor, mode_revision: 0 };
  journal.write(() => {
    journal.saveSeat(row);
    journal.dropShown(row, Number.MAX_SAFE_INTEGER);
    journal.dropAnnounced(row);
    endParts(deps, seat);
  });
  seat.row = row;
  seat.seenSeq = 0;
}

/** Whether messages or notices of the seat were received and are not acknowledged yet. */
export const hasUnacknowledged = ({ journal }: Pick<Common, 'journal'>, { received, row }: Seat): boolean =>
  received.size > 0 || journal.noticesIn(row, ['confirmed']).length > 0;

/** Whether a seat is followed: while its session is open, what it received is not acknowledged, or a handoff needs attention. */
export const isFollowed = (deps: Pick<Common, 'journal'>, seat: Seat): boolean =>
  seat.session?.row.open === true ||
  hasUnacknowledged(deps, seat) ||
  deps.journal.partsOf(seat.row, ['open']).some((part) => part.handoff_state === 'attention');

/** Follows a seat, or stops, as its session and its handoffs are now. */
export function follow(deps: CursorDeps, seat: Seat): void {
  const server = deps.servers.at(seat.row.origin);
  const { problem } = seat.row;
  if (isFollowed(deps, seat)) {
    if (!isFinal(problem)) server.watch(seat.identity, problem);
    return;
  }
  server.unwatch(seat.row);
  // What was read would pass for what waits there when the session is back.
  seat.latest = null;
  seat.notices = [];
  // Nobody asks any more whether it can be reached again.
  if (problem === 'server_unreachable') deps.seats.save(seat, { problem: null, problem_at: null });
}
