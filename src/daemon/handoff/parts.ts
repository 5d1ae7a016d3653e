/** Closes the parts of handoffs when cursors advance or seats end. A handoff is done when all its parts are. */
import type { Common } from '../common.ts';
import type { HandoffNotice, Manifest, PartRow } from '../journal/rows.ts';
import type { HandoffId } from '../protocol.ts';
import { type SeatRef, seatKey } from '../refs.ts';
import type { Seat } from '../sessions/session.ts';

type PartsDeps = Pick<Common, 'journal' | 'seats'>;

export const isInFlight = (state: string): boolean => state === 'prepared' || state === 'handed';

/** Closes the parts of a handoff, which is no longer in flight, that their cursors have passed and that have no notices. */
export function closePassedParts(deps: PartsDeps, id: HandoffId): void {
  const { journal, seats } = deps;
  const manifest = journal.manifest(id);
  if (!manifest) return;
  journal.write(() => {
    for (const part of manifest.parts) {
      if ((part.state !== 'open' && part.state !== 'confirmed') || noticesOf(manifest, part).length > 0) continue;
      const cursor = seats.of(part)?.row.cursor ?? 0;
      if (lastSeq(manifest, part) <= cursor) journal.setPart(id, part, 'acked');
    }
  });
  closeIfFinished(deps, id);
}

/** The highest number of a seat's messages in a handoff; 0 if it has none. */
const lastSeq = ({ messages }: Manifest, seat: SeatRef): number =>
  Math.max(0, ...messages.filter((message) => seatKey(message) === seatKey(seat)).map(({ seq }) => seq));

/** Ids of a seat's notices in a handoff, which are acknowledged independently of the cursor. */
export const noticesOf = ({ notices }: Manifest, seat: SeatRef): string[] =>
  notices.filter((notice) => seatKey(notice) === seatKey(seat)).map(({ notice_id }) => notice_id);

/** Forgets notices that are acknowledged, and closes the part if it only waited for them. */
export function closeNotices(
  deps: PartsDeps,
  { handoff_id: id }: HandoffNotice | PartRow,
  notices: readonly string[],
): void {
  deps.journal.write(() => {
    for (const notice of notices) deps.journal.dropNotice(id, notice);
  });
  closePassedParts(deps, id);
}

/** Forgets what a seat needs not be told any more of the notices in handoffs that wait. @param current its notices now */
export function dropOldNotices(deps: PartsDeps, seat: SeatRef, current: readonly { id: string }[]): void {
  for (const told of deps.journal.noticesIn(seat, ['pending', 'retry', 'attention']))
    if (!current.some(({ id }) => id === told.notice_id)) closeNotices(deps, told, [told.notice_id]);
}

/** Closes a handoff if all its parts are closed. */
export function closeIfFinished({ journal }: PartsDeps, id: HandoffId): void {
  const manifest = journal.manifest(id);
  if (!manifest || ['done', 'ended'].includes(manifest.handoff.state)) return;
  const { parts } = manifest;
  if (parts.some(({ state }) => state === 'open' || state === 'confirmed')) return;
  const ended = parts.every(({ state }) => state === 'ended');
  journal.updateHandoff(id, { state: ended ? 'ended' : 'done' });
}

/**
 * Ends a seat's unconfirmed parts, because the seat moved, was replaced or has ended.
 * @param waiting only in handoffs that are not in flight
 */
export function dropOpenParts(deps: PartsDeps, seat: Seat, waiting = false): void {
  const { journal } = deps;
  const all = journal.partsOf(seat.row, ['open']);
  const open = waiting ? all.filter((part) => !isInFlight(part.handoff_state)) : all;
  for (const part of open) journal.setPart(part.handoff_id, part, 'ended');
  for (const part of open) closeIfFinished(deps, part.handoff_id);
}

/** Ends all parts of a removed seat: what was confirmed for it can never be acknowledged. */
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
