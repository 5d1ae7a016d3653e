/** What becomes of handoffs as cursors move and seats end: parts are acknowledged or over, and then so is the handoff. */
import type { Core } from '../core.ts';
import type { Manifest } from '../journal/types.ts';
import type { Seat } from '../sessions/seat.ts';
import { type HandoffId, type SeatRef, seatKey } from '../types.ts';
import { tellQueue } from './queued.ts';

/** The server's cursor of a seat, from whatever said so; it only grows. Ends all interest in what it has passed. */
export function moveCursor(core: Core, seat: Seat, upTo: number): void {
  if (upTo <= seat.row.cursor) return;
  const row = { ...seat.row, cursor: upTo };
  const touched = core.journal.write(() => {
    core.journal.saveSeat(row);
    core.journal.dropReceived(seat.row, upTo);
    core.journal.dropShown(seat.row, upTo);
    const passed = core.journal
      .partsOf(seat.row, ['open', 'confirmed'])
      .filter((part) => part.last_seq <= upTo && !onItsWay(part.handoff_state) && !hasNotices(core, part.handoff_id));
    for (const part of passed) core.journal.setPart(part.handoff_id, part, 'acked');
    return passed.map((part) => part.handoff_id);
  });
  seat.row = row;
  for (const [id, seq] of seat.received) if (seq <= upTo) seat.received.delete(id);
  for (const id of new Set(touched)) settle(core, id);
  if (seat.session) tellQueue(core, seat.session);
  // The last read did not bring everything, and all that it did bring is over.
  const { wholeUpTo = null } = seat.latest ?? {};
  if (wholeUpTo !== null && upTo >= wholeUpTo) core.seats.readOn(seat);
  core.seats.done(seat);
}

const onItsWay = (state: string): boolean => state === 'prepared' || state === 'handed';

/** A handoff is on its way no more: parts that their cursors passed meanwhile are over. */
export function landed(core: Core, id: HandoffId): void {
  const manifest = core.journal.manifest(id);
  if (!manifest) return;
  if (manifest.notices.length === 0)
    core.journal.write(() => {
      for (const part of manifest.parts) {
        if (part.state !== 'open' && part.state !== 'confirmed') continue;
        const cursor = core.seats.of(part)?.row.cursor ?? 0;
        if (lastSeq(manifest, part) <= cursor) core.journal.setPart(id, part, 'acked');
      }
    });
  settle(core, id);
}

/** The highest number of a seat's messages in a handoff; 0 where there is none. */
const lastSeq = ({ messages }: Manifest, seat: SeatRef): number =>
  Math.max(0, ...messages.filter((message) => seatKey(message) === seatKey(seat)).map(({ seq }) => seq));

/** Notices are over when they are acknowledged, which the cursor says nothing about. */
const hasNotices = (core: Core, id: HandoffId): boolean => (core.journal.manifest(id)?.notices.length ?? 0) > 0;

/** The handoff's notices are acknowledged: parts that only waited for that are over. */
export function noticesDone(core: Core, id: HandoffId): void {
  const manifest = core.journal.manifest(id);
  if (!manifest) return;
  core.journal.write(() => {
    for (const part of manifest.parts) {
      const cursor = core.seats.of(part)?.row.cursor ?? 0;
      if (part.state === 'confirmed' && lastSeq(manifest, part) <= cursor) core.journal.setPart(id, part, 'acked');
    }
    core.journal.dropNotices(id);
  });
  settle(core, id);
}

/** Closes a handoff whose parts are all over. */
export function settle(core: Core, id: HandoffId): void {
  const manifest = core.journal.manifest(id);
  if (!manifest || ['done', 'ended'].includes(manifest.handoff.state)) return;
  const { parts } = manifest;
  if (parts.some(({ state }) => state === 'open' || state === 'confirmed')) return;
  const ended = parts.every(({ state }) => state === 'ended');
  core.journal.updateHandoff(id, { state: ended ? 'ended' : 'done' });
}

/**
 * Takes a seat out of everything that is not confirmed: it moved, was replaced, or has ended.
 * @param waiting only out of what nobody has yet
 */
export function dropOpenParts(core: Core, seat: Seat, waiting = false): void {
  const all = core.journal.partsOf(seat.row, ['open']);
  const open = waiting ? all.filter((part) => !onItsWay(part.handoff_state)) : all;
  for (const part of open) core.journal.setPart(part.handoff_id, part, 'ended');
  for (const part of open) settle(core, part.handoff_id);
}

/** A seat that is no more: what was confirmed for it can never be acknowledged. */
export function endParts(core: Core, seat: Seat): void {
  core.journal.write(() => {
    for (const part of core.journal.partsOf(seat.row, ['open', 'confirmed']))
      core.journal.setPart(part.handoff_id, part, 'ended');
    core.journal.dropReceived(seat.row, Number.MAX_SAFE_INTEGER);
  });
  seat.received.clear();
  for (const part of core.journal.handoffsIn(['pending', 'confirmed', 'retry', 'attention'])) settle(core, part.id);
}
