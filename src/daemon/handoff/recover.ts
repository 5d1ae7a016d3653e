/** What a start makes of what the last daemon left: nothing that may be in a session is forgotten, nothing else is believed. */
import type { Core } from '../core.ts';
import { flightOf, watchForTurn } from './flight.ts';
import { logHandoff } from './log-lines.ts';
import { landed } from './settle.ts';

/** Before anything is served. Sessions whose process is gone are closed already. */
export function recover(core: Core): void {
  const { journal } = core;
  const now = core.clock.nowUs();
  for (const row of journal.handoffsIn(['prepared', 'handed'])) {
    const session = core.sessions.get(row.session_key);
    const alive = session?.row.open && session.row.boot === row.boot;
    const hook = ['wait', 'prompt', 'tool', 'turn_end'].includes(row.path);
    // A clock that began again means that the machine did.
    const accepted = row.state === 'handed' && row.accepted_at !== null && row.accepted_at <= now;
    if (session && alive && hook && accepted && !session.flight) {
      session.flight = flightOf(row, row.accepted_at);
      if (!session.flight.stalled) watchForTurn(core, session, session.flight);
      continue;
    }
    journal.updateHandoff(row.id, { state: 'pending', reason: 'daemon_restarted', accepted_at: null });
    logHandoff(core, 'handoff_pending', row.id, { reason: 'daemon_restarted' });
  }
  for (const { id } of journal.handoffsIn(['confirmed', 'pending', 'retry'])) landed(core, id);
}

/** Once the servers are connected: what was received is acknowledged, never handed again. */
export function resumeAcks(core: Core): void {
  for (const seat of core.seats.all()) if (seat.received.size > 0) core.acks.want(seat);
  for (const { id } of core.journal.handoffsIn(['confirmed'])) core.acks.notices(id);
}
