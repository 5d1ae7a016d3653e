/** Messages in a program's own queue that have not become a prompt yet. */
import type { Adapters } from '../adapter.ts';
import type { Common } from '../common.ts';
import { type Journal, writeOrLog } from '../journal/journal.ts';
import type { PartMessage } from '../journal/rows.ts';
import type { HandoffId } from '../protocol.ts';
import { type SeatRef, seatKey } from '../refs.ts';
import type { Reports } from '../reports/reports.ts';
import type { Seat, Session } from '../sessions/session.ts';

interface QueuedDeps {
  adapters: Adapters;
  journal: Journal;
}

/**
 * Messages still in the queue of the session's program, judged by its turns: a queued message waits for the end of the
 * current turn and has left the queue two turns later. Without known turns, only what is being added right now. For all
 * seats of the session, acknowledged or not.
 */
export function queuedIn(deps: QueuedDeps, session: Session): PartMessage[] {
  const { key, row } = session;
  if (!row.open || !hasQueue(deps, session)) return [];
  return deps.journal
    .queuedParts(key, row.boot)
    .filter(({ state, turn_id }) => state === 'handed' || (row.turned && turn_id >= row.turn_id - 1))
    .filter((message) => findSeat(session, message) !== undefined);
}

/** Reports to servers what is queued and not acknowledged. */
export function reportQueue(deps: QueuedDeps & { reports: Pick<Reports, 'queued'> }, session: Session): void {
  if (!hasQueue(deps, session)) return;
  const waiting = queuedIn(deps, session).filter(
    (message) => message.seq > (findSeat(session, message)?.row.cursor ?? 0),
  );
  deps.reports.queued(session.view, waiting);
}

const findSeat = ({ seats }: Session, ref: SeatRef): Seat | undefined =>
  [...seats].find(({ row }) => seatKey(row) === seatKey(ref));

/** Records that a handoff left the queue: it became a prompt, or an event showed that the session has it. */
export function markLeftQueue(deps: Common, session: Session, id: HandoffId): void {
  const row = deps.journal.handoff(id);
  if (row?.path !== 'queue' || row.session_key !== session.key || row.boot !== session.row.boot) return;
  if (row.turn_at === null) writeOrLog(deps, () => deps.journal.updateHandoff(id, { turn_at: deps.clock.now() }));
}

const hasQueue = ({ adapters }: QueuedDeps, { row }: Session): boolean =>
  adapters.of(row.harness).capabilities.has('queue');
