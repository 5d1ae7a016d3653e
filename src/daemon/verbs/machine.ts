/** Boards found, joined and made through this machine's delegation, for a session that is vouched for. */

import type { Core } from '../core.ts';
import type { Header, Requests } from '../protocol.ts';
import { requireRoom } from '../sessions/seats.ts';
import type { Session } from '../sessions/session.ts';
import { ControlRefusal, type JoinedSeat } from '../types.ts';
import { oneByOne, refuseSubagent, requireTarget, seatsOf } from './sessions.ts';

export async function boards(core: Core, frame: Requests['boards']): Promise<object> {
  const session = await vouched(core, frame);
  return core.delegating.boards(session.view, { ...frame });
}

export async function join(core: Core, frame: Requests['join']): Promise<object> {
  const session = await vouched(core, frame);
  const { code, ...by } = frame;
  const { server, board } = frame.agent;
  if (code === undefined && board === undefined)
    throw new ControlRefusal('invalid_request', 'A board or a code is needed.');
  return oneByOne(session, async () => {
    const held = [...session.seats].find(
      ({ row }) => row.origin === server && (row.board === board || row.board_id === board),
    );
    requireRoom(session, held);
    // It was taken over elsewhere meanwhile: what of it was received is what its server says, not what was known here.
    if (held?.row.problem === 'unauthorized') core.seats.forgetReceived(held);
    // The line of a board where the session has its seat brings it no second one.
    const request = held ? by : { ...by, code };
    return taken(core, session, await core.delegating.join(session.view, request), 'join');
  });
}

export async function createBoard(core: Core, frame: Requests['create_board']): Promise<object> {
  const session = await vouched(core, frame);
  return oneByOne(session, async () => {
    requireRoom(session);
    return taken(core, session, await core.delegating.createBoard(session.view, { ...frame }), 'create_board');
  });
}

/** The token is saved; now the seat is the session's. */
function taken(core: Core, session: Session, { seat, mode, answer }: JoinedSeat, ev: 'join' | 'create_board'): object {
  const { previous } = core.seats.bind(session, seat);
  core.seats.told(seat, core.seats.of(seat)?.row.mode ?? mode);
  core.log.write(ev, { session: session.key, seats: [seat.member_id] });
  return { ...answer, mode, ...(previous ? { previous } : {}), seats: seatsOf(session) };
}

/** Registered, open, and no part of another conversation; its program is asked where it can be. */
export async function vouched(core: Core, frame: Header): Promise<Session> {
  refuseSubagent(frame.subagent);
  const session = core.sessions.get(`${frame.harness}:${frame.session}`);
  // A boot of our own making only stands in until the session's hooks tell theirs.
  const own = session?.row.boot.startsWith('boot_') || session?.row.boot === (frame.boot ?? session?.row.boot);
  if (!session?.row.open || !own) throw noSession();
  requireTarget(await core.adapters.of(frame.harness).check(session.view));
  session.unproven = false;
  return session;
}

const noSession = (): ControlRefusal =>
  new ControlRefusal('agent_session_required', 'Only a session of an agent program may do this.', {
    hint: 'Ask your person to run: service board list',
  });

/** Which session takes part in work between people's agents; the proofs of it never leave the daemon. */
export async function pairing(core: Core, frame: Requests['pairing']): Promise<object> {
  const session = await vouched(core, frame);
  if (!core.pairing) throw new ControlRefusal('invalid_request', 'This daemon pairs no sessions.');
  const agent = { server: frame.server };
  return core.pairing.answer(session, frame, async (board) => {
    await oneByOne(session, async () =>
      taken(
        core,
        session,
        await core.delegating.join(session.view, { agent: { ...agent, board }, role: 'member' }),
        'join',
      ),
    );
  });
}
