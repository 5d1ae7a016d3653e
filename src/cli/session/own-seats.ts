/** Lists the seats of the current agent session: from the daemon, or from the saved notes if it does not run. */
import type { AgentRef } from '../../daemon/protocol.ts';
import { isFinal } from '../../daemon/refs.ts';
import { allSeats, type Seat, seatsOfSession } from '../../local/actors.ts';
import { type Credentials, isSameServer, readCredentials } from '../../local/keys/credentials.ts';
import { runtime } from '../runtime.ts';
import { askFor, unlessAway } from './ask-daemon.ts';
import { sessionHere } from './here.ts';

let found: Promise<Seat[]> | null = null;
let taken: AgentRef[] = [];

/** The seats that another session took from this one, as far as `sessionSeats` was told. */
export const takenSeats = (): readonly AgentRef[] => taken;

/** Every seat this session holds. Starts nothing; asked once for a run. */
export function sessionSeats(): Promise<Seat[]> {
  found ??= read();
  return found;
}

async function read(): Promise<Seat[]> {
  const session = sessionHere();
  if (!session) return [];
  const saved = readCredentials(runtime().folders);
  return unlessAway(seatsOfSession(saved, session.key), async () => {
    const { seats = [], lost = [] } = await askFor(session, 'agents', {}, { start: false });
    taken = lost;
    // Seats that have ended count only where no other is left to act.
    const current = seats.filter(({ problem }) => !isFinal(problem));
    return (current.length > 0 ? current : seats).flatMap(({ server, member_id: id }) => held(saved, server, id));
  });
}

const held = (saved: Credentials, origin: string, id: string | undefined): Seat[] =>
  allSeats(saved).filter((seat) => seat.memberId === id && isSameServer(saved, seat.origin, origin));

/** Every seat that this machine holds a token for; nothing is sent. */
export const savedSeats = (): Seat[] => allSeats(readCredentials(runtime().folders));

/** The seat of this id at a server among them. */
export const savedSeat = (origin: string, memberId: string): Seat | undefined =>
  held(readCredentials(runtime().folders), origin, memberId)[0];

/** The agents of these seats. */
export const savedAgents = (): string[] => [...new Set(savedSeats().map(({ saved }) => saved.name))].sort();
