/** The agent that a person's command is about. */
import { runtime } from '../../../cli/runtime.ts';
import { type BoardSession, namedOrigin, stayingAt } from '../../../cli/session/open-session.ts';
import { allSeats, chooseActor, environmentToken, isOn, type Seat } from '../../../local/actors.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { isSameServer, readCredentials } from '../../../local/keys/credentials.ts';
import { canonicalOrigin, looksLikeUrl } from '../../../local/origin.ts';

/** Where a command was told to go. */
interface Globals {
  board?: string | undefined;
  server?: string | undefined;
}

/**
 * Turns the name of an agent into its server and board, and answers by what it goes there: its id where this
 * machine holds its seat, else the name, on the board that is in use.
 */
export function agentNamed(as: string, globals: Globals): string {
  if (!holdsSeat(as, globals)) return agentElsewhere(as, globals);
  const seat = agentMeant(as, globals);
  globals.board ??= seat.saved.board;
  return seat.memberId;
}

/**
 * The name of an agent, of which this machine need hold no seat; the board that is named with it is the one in use.
 * Where only one of two is an id, both may be the same: then it is the one of `--board`.
 */
export function agentElsewhere(as: string, globals: Globals): string {
  const [name, board] = partsOf(as);
  const isId = [board, globals.board].map((one) => one?.startsWith('brd_'));
  if (board !== undefined && globals.board !== undefined && globals.board !== board && isId[0] === isId[1])
    throw usage(`Two boards are named, ${board} and ${globals.board}.`, 'Leave --board out');
  globals.board ??= board;
  return name;
}

/** Whether this machine holds a seat of the agent that `--as` names, at the board and server that were named. */
export function holdsSeat(as: string, { board, server }: Globals): boolean {
  const [nameOrId, named] = partsOf(as);
  const boards = [named, board].filter((one) => one !== undefined);
  const origin = originOf(server);
  const saved = readCredentials(runtime().folders);
  return allSeats(saved).some(
    (seat) =>
      (seat.memberId === nameOrId || seat.saved.name === nameOrId) &&
      boards.every((one) => isOn(seat, one)) &&
      (origin === undefined || isSameServer(saved, seat.origin, origin)),
  );
}

/** Where the agent is, as far as that was said. A key of the environment goes only to a server that is named, known here or not. */
function originOf(server: string | undefined): string | undefined {
  const { env, folders } = runtime();
  const given = environmentToken(env) !== null;
  const named = server ?? (given ? env.SERVICE_SERVER : undefined);
  if (!named) return undefined;
  return given && looksLikeUrl(named) ? canonicalOrigin(named) : namedOrigin(named, () => readCredentials(folders));
}

function partsOf(as: string): [nameOrId: string, board?: string] {
  const [nameOrId = '', board] = as.replace(/^@/, '').split('@', 2);
  return [nameOrId, board];
}

/** The agent that `--as` names, among those this machine holds. The person says what holds for it, on its server. */
export function agentMeant(as: string, globals: Globals): Seat {
  const { env, folders } = runtime();
  const { board, server } = globals;
  try {
    const actor = chooseActor({ as, board, serverOrigin: originOf(server) }, () => readCredentials(folders), env);
    if (actor.kind !== 'seat') throw new Error('--as names a seat');
    const { seat } = actor;
    if (board === undefined || isOn(seat, board)) {
      if (!environmentToken(env)) globals.server ??= seat.entry.mode === 'local' ? 'local' : seat.origin;
      return seat;
    }
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'agent_seat_elsewhere') throw error;
  }
  const where = board === undefined ? '' : ` on ${board}`;
  throw new Failure('agent_seat_elsewhere', `This machine holds no token for an agent called ${as}${where}.`, {
    hint: 'Run it on the machine that holds its token',
  });
}

/** The agent that asks. @throws Failure for a person, who has to name one. */
export async function ownName(session: BoardSession): Promise<string> {
  const { client, agent, board } = session;
  if (agent) return (await client.call('getMe')).data.id;
  throw new Failure('agent_not_selected', 'No agent is named.', {
    hint: `service board agents --board ${board}${stayingAt(session)} lists them`,
  });
}
