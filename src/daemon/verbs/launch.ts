/** Launch tickets: a session that presents one gets the seat in it. */
import { takeTicket } from '../../launch/ticket.ts';
import { agentRef } from '../protocol.ts';
import { bindSeat } from '../sessions/bindings.ts';
import type { Session } from '../sessions/session.ts';
import type { Context } from './context.ts';

/** Binds the seat of a ticket. A missing, used, expired or foreign ticket is ignored. */
export function useTicket(context: Context, session: Session, ticket: string): void {
  const { paths, clock, log, saved } = context;
  try {
    const taken = takeTicket(paths.launches, ticket, clock.now());
    if (!taken || taken.harness !== session.row.harness) return;
    const [seat, ...others] = saved.find(agentRef.parse(taken.agent));
    if (seat && others.length === 0) bindSeat(context, session, seat);
  } catch {
    log.write('hook_error', { session: session.key, op: 'launch' }, 'warn');
  }
}
