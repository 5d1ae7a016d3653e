/** Launch tickets: a session that presents one gets the seat in it. */
import { takeTicket } from '../../launch/ticket.ts';
import type { DaemonClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { DaemonPaths } from '../paths.ts';
import { agentRef } from '../protocol.ts';
import type { Bindings } from './bindings.ts';
import type { SavedSeats } from './saved-seats.ts';
import type { Session } from './session.ts';

interface LaunchDeps {
  paths: DaemonPaths;
  clock: DaemonClock;
  log: Log;
  saved: SavedSeats;
  bindings: Bindings;
}

/** Binds the seat of a ticket. A missing, used, expired or foreign ticket is ignored. */
export function useTicket(deps: LaunchDeps, session: Session, ticket: string): void {
  try {
    const taken = takeTicket(deps.paths.launches, ticket, deps.clock.now());
    if (!taken || taken.harness !== session.row.harness) return;
    const [seat, ...others] = deps.saved.find(agentRef.parse(taken.agent));
    if (seat && others.length === 0) deps.bindings.bind(session, seat);
  } catch {
    deps.log.write('hook_error', { session: session.key, op: 'launch' }, 'warn');
  }
}
