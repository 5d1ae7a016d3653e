/** A session that was started for a seat, taking it by the ticket that its first prompt named. */

import type { Output } from '../../../cli/output.ts';
import { registerHere } from '../../../cli/session/ask-daemon.ts';
import { sessionHere } from '../../../cli/session/here.ts';
import { isTicket } from '../../../launch/ticket.ts';
import { Failure, usage } from '../../../local/failure.ts';

/** Outside a session, and with a ticket that was used or is too old, nothing happens. Where nobody can be asked, it is said. */
export async function takeLaunch(ticket: string, out: Output): Promise<void> {
  if (!isTicket(ticket)) throw usage('--launch takes a ticket, lch_ and 24 letters and digits.', 'service status');
  const session = sessionHere();
  if (!session) return;
  try {
    await registerHere(session, ticket);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    out.warn(error.code, error.message, error.hint);
  }
}
