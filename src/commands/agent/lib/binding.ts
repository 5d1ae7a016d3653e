/** Binds a saved seat to the current agent session. */
import { EXIT } from '../../../cli/errors.ts';
import { runtime } from '../../../cli/runtime.ts';
import { askFor, noteHolder, refOf } from '../../../cli/session/ask-daemon.ts';
import { sessionHere } from '../../../cli/session/here.ts';
import type { DeliveryMode } from '../../../contract/types.ts';
import type { AgentRef } from '../../../daemon/protocol.ts';
import { allSeats, type Seat } from '../../../local/actors.ts';
import { Failure } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';

interface Bound {
  session: string;
  /** The seat of the same board that the session held before. */
  previous: AgentRef | null;
  mode: DeliveryMode | null;
}

/** @throws Failure `agent_session_required` outside a session. */
export async function bindHere(seat: Seat): Promise<Bound> {
  const session = sessionHere();
  if (!session)
    throw new Failure('agent_session_required', 'Only a session of an agent’s program takes a seat.', {
      hint: `In a terminal, act as it with: --as ${seat.saved.name}`,
      exit: EXIT.refused,
    });
  const { previous, mode } = await askFor(session, 'bind', { agent: refOf(seat) });
  await noteHolder(seat, session.key);
  return { session: session.key, previous: previous ?? null, mode: mode ?? null };
}

/** Takes a seat that ended from the session; nobody needs to hear of it again. */
export async function unbindHere(seat: Seat | null): Promise<void> {
  const session = sessionHere();
  if (!seat || !session) return;
  await askFor(session, 'unbind', { agent: refOf(seat) }, { start: false }).catch(() => {});
}

/** The seat of this id, where this machine holds its token. */
export const seatHeld = (memberId: string): Seat | null =>
  allSeats(readCredentials(runtime().folders)).find((seat) => seat.memberId === memberId) ?? null;
