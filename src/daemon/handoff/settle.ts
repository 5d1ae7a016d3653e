/** What becomes of handoffs as cursors move and seats end: parts are acknowledged or over, and then so is the handoff. */
import type { Core } from '../core.ts';
import type { Seat } from '../seats/seat.ts';
import type { HandoffId } from '../types.ts';
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
}

const onItsWay = (state: string): boolean => state === 'prepared' || state === 'handed';

/** Notices are over when they are acknowledged, which the cursor says nothing about. */
const hasNotices = (core: Core, id: HandoffId): boolean => (core.journal.manifest(id)?.notices.length ?? 0) > 0;

/** The handoff's notices are acknowledged: parts that only waited for that are over. */
export function noticesDone(core: Core, id: HandoffId): void {
  const manifest = core.journal.manifest(id);
  if (!manifest) return;
  core.journal.write(() => {
    for (const part of manifest.parts) {
      const seqs = manifest.messages
        .filter((message) => message.origin === part.origin && message.member_id === part.member_id)
        .map(({ seq }) => seq);
      const cursor = core.seats.of(part)?.row.cursor ?? 0;
      if (part.state === 'confirmed' && Math.max(0, ...seqs) <= cursor) core.journal.setPart(id, part, 'acked');
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
