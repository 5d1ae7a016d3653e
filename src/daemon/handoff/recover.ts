/** Recovers handoffs after a start: those that a session may have stay in flight, all others become pending. */
import type { Common } from '../common.ts';
import type { Acknowledger } from '../inbox/acknowledge.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { restoreFlight, watchForTurn } from './flight.ts';
import { logHandoff } from './log-lines.ts';
import { closePassedParts } from './parts.ts';

/** Runs before the daemon serves requests, after sessions without a process were closed. */
export function recover(deps: Common, sessions: Sessions): void {
  const { journal } = deps;
  const now = deps.clock.nowUs();
  for (const row of journal.handoffsIn(['prepared', 'handed'])) {
    const session = sessions.get(row.session_key);
    const alive = session?.row.open && session.row.boot === row.boot;
    const hook = ['wait', 'prompt', 'tool', 'turn_end'].includes(row.path);
    // A smaller clock value means that the machine was restarted.
    const accepted = row.state === 'handed' && row.accepted_at !== null && row.accepted_at <= now;
    if (session && alive && hook && accepted && !session.flight) {
      session.flight = restoreFlight(row, row.accepted_at);
      if (!session.flight.stalled) watchForTurn(deps, session, session.flight);
      continue;
    }
    journal.updateHandoff(row.id, { state: 'pending', reason: 'daemon_restarted', accepted_at: null });
    logHandoff(deps, 'handoff_pending', row.id, { reason: 'daemon_restarted' });
  }
  for (const { id } of journal.handoffsIn(['confirmed', 'pending', 'retry'])) closePassedParts(deps, id);
}

/** Acknowledges what was received before the restart. Runs once the servers are connected. */
export function resumeAcks({ journal, seats }: Common, acks: Acknowledger): void {
  for (const seat of seats.all()) if (seat.received.size > 0) acks.schedule(seat);
  for (const { id } of journal.handoffsIn(['confirmed'])) acks.acknowledgeNotices(id);
}
