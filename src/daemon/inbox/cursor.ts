/** A seat's cursor: up to where its server has everything acknowledged. */
import { closeIfFinished, hasNotices, isInFlight, type PartsDeps } from '../handoff/parts.ts';
import type { Servers } from '../server-link/servers.ts';
import type { SessionEvents } from '../sessions/events.ts';
import type { Seat } from '../sessions/session.ts';

export interface CursorDeps extends PartsDeps {
  servers: Servers;
  events: SessionEvents;
}

/** Notes the server's cursor of a seat, which only grows, and closes what it has passed. */
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
      .filter((part) => part.last_seq <= upTo && !isInFlight(part.handoff_state) && !hasNotices(deps, part.handoff_id));
    for (const part of passed) journal.setPart(part.handoff_id, part, 'acked');
    return passed.map((part) => part.handoff_id);
  });
  seat.row = row;
  for (const [id, seq] of seat.received) if (seq <= upTo) seat.received.delete(id);
  for (const id of new Set(touched)) closeIfFinished(deps, id);
  if (seat.session) events.emit('changed', seat.session);
  // The last read did not bring everything, and all that it did bring is over.
  const { completeUpTo = null } = seat.latest ?? {};
  // What comes of it is told as every read is; one that fails is made good by the next.
  if (completeUpTo !== null && upTo >= completeUpTo)
    servers
      .at(row.origin)
      .read(row)
      .catch(() => {});
  stopFollowing(servers, seat);
}

/** Stops following a seat that no session holds, once all that was received is acknowledged. */
export function stopFollowing(servers: Servers, seat: Seat): void {
  if (seat.session || seat.received.size > 0) return;
  servers.at(seat.row.origin).unwatch(seat.row);
}
