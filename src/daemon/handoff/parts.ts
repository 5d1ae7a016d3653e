/** Closes parts of handoffs as cursors move and seats end. A handoff is done when all of its parts are. */
import type { Journal } from '../journal/journal.ts';
import type { Manifest } from '../journal/rows.ts';
import type { HandoffId } from '../protocol.ts';
import { type SeatRef, seatKey } from '../refs.ts';
import type { SeatRegistry } from '../sessions/seat-registry.ts';
import type { Seat } from '../sessions/session.ts';

export interface PartsDeps {
  journal: Journal;
  seats: SeatRegistry;
}

export const isInFlight = (state: string): boolean => state === 'prepared' || state === 'handed';

/** A handoff is on its way no more: parts that their cursors passed meanwhile are over. */
export function closePassedParts(deps: PartsDeps, id: HandoffId): void {
  const { journal, seats } = deps;
  const manifest = journal.manifest(id);
  if (!manifest) return;
  if (manifest.notices.length === 0)
    journal.write(() => {
      for (const part of manifest.parts) {
        if (part.state !== 'open' && part.state !== 'confirmed') continue;
        const cursor = seats.of(part)?.row.cursor ?? 0;
        if (lastSeq(manifest, part) <= cursor) journal.setPart(id, part, 'acked');
      }
    });
  closeIfFinished(deps, id);
}

/** The highest number of a seat's messages in a handoff; 0 where there is none. */
const lastSeq = ({ messages }: Manifest, seat: SeatRef): number =>
  Math.max(0, ...messages.filter((message) => seatKey(message) === seatKey(seat)).map(({ seq }) => seq));

/** Notices are over when they are acknowledged, which the cursor says nothing about. */
export const hasNotices = ({ journal }: PartsDeps, id: HandoffId): boolean =>
  (journal.manifest(id)?.notices.length ?? 0) > 0;

/** The handoff's notices are acknowledged: parts that only waited for that are over. */
export function closeNotices(deps: PartsDeps, id: HandoffId): void {
  const { journal, seats } = deps;
  const manifest = journal.manifest(id);
  if (!manifest) return;
  journal.write(() => {
    for (const part of manifest.parts) {
      const cursor = seats.of(part)?.row.cursor ?? 0;
      if (part.state === 'confirmed' && lastSeq(manifest, part) <= cursor) journal.setPart(id, part, 'acked');
    }
    journal.dropNotices(id);
  });
  closeIfFinished(deps, id);
}

/** Closes a handoff whose parts are all over. */
export function closeIfFinished({ journal }: PartsDeps, id: HandoffId): void {
  const manifest = journal.manifest(id);
  if (!manifest || ['done', 'ended'].includes(manifest.handoff.state)) return;
  const { parts } = manifest;
  if (parts.some(({ state }) => state === 'open' || state === 'confirmed')) return;
  const ended = parts.every(({ state }) => state === 'ended');
  journal.updateHandoff(id, { state: ended ? 'ended' : 'done' });
}

/**
 * Takes a seat out of everything that is not confirmed: it moved, was replaced, or has ended.
 * @param waiting only out of handoffs that are not on their way
 */
export function dropOpenParts(deps: PartsDeps, seat: Seat, waiting = false): void {
  const { journal } = deps;
  const all = journal.partsOf(seat.row, ['open']);
  const open = waiting ? all.filter((part) => !isInFlight(part.handoff_state)) : all;
  for (const part of open) journal.setPart(part.handoff_id, part, 'ended');
  for (const part of open) closeIfFinished(deps, part.handoff_id);
}

/** A seat that is no more: what was confirmed for it can never be acknowledged. */
export function endParts(deps: PartsDeps, seat: Seat): void {
  const { journal } = deps;
  journal.write(() => {
    for (const part of journal.partsOf(seat.row, ['open', 'confirmed']))
      journal.setPart(part.handoff_id, part, 'ended');
    journal.dropReceived(seat.row, Number.MAX_SAFE_INTEGER);
  });
  seat.received.clear();
  for (const part of journal.handoffsIn(['pending', 'confirmed', 'retry', 'attention'])) closeIfFinished(deps, part.id);
}
