/** What sits in a program's own queue: given to its command, and not yet come back as the prompt that begins a turn. */
import type { Core } from '../core.ts';
import type { PartMessage } from '../journal/types.ts';
import type { Session } from '../sessions/session.ts';
import type { HandoffId } from '../types.ts';
import { noting } from './noting.ts';

/**
 * Messages that the session's program still keeps, as far as its turns tell: what was queued waits for the end of the
 * turn that runs, and is gone with the second one after it. Where nothing is known about turns, only what its command is
 * taking right now. Of every seat the session still holds; acknowledged or not.
 */
export function queuedIn(core: Core, session: Session): PartMessage[] {
  const { key, row } = session;
  if (!row.open || !queues(core, session)) return [];
  return core.journal
    .inQueue(key, row.boot)
    .filter(({ state, turn_id }) => state === 'handed' || (row.turned && turn_id >= row.turn_id - 1))
    .filter((message) => core.seats.of(message)?.session === session);
}

/** Servers are told of what is queued and not acknowledged. */
export function tellQueue(core: Core, session: Session): void {
  if (!queues(core, session)) return;
  const waiting = queuedIn(core, session).filter((message) => message.seq > (core.seats.of(message)?.row.cursor ?? 0));
  core.reports.queued(session.view, waiting);
}

/** A prompt brought the text of a handoff, or an event showed that the session has it: it left the queue. */
export function leftQueue(core: Core, session: Session, id: HandoffId): void {
  const row = core.journal.handoff(id);
  if (row?.path !== 'queue' || row.session_key !== session.key || row.boot !== session.row.boot) return;
  if (row.turn_at === null) noting(core, () => core.journal.updateHandoff(id, { turn_at: core.clock.now() }));
}

const queues = (core: Core, { row }: Session): boolean => core.adapters.of(row.harness).capabilities.has('queue');
