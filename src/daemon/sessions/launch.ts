/** What a launch ticket does in the daemon: the session that brings it takes the seat it names. */
import { takeTicket } from '../../launch/ticket.ts';
import type { Core } from '../core.ts';
import { agentRef } from '../protocol.ts';
import type { Session } from './session.ts';

/** Binds the seat of a ticket; a missing, used, late or foreign one binds nothing and is no error. */
export function useTicket(core: Core, session: Session, ticket: string): void {
  try {
    const taken = takeTicket(core.paths.launches, ticket, core.clock.now());
    if (!taken || taken.harness !== session.row.harness) return;
    const [seat, ...others] = core.saved.find(agentRef.parse(taken.agent));
    if (seat && others.length === 0) core.seats.bind(session, seat);
  } catch {
    core.log.write('hook_error', { session: session.key, op: 'launch' }, 'warn');
  }
}
