/** Lists, joins and creates boards, and pairs sessions, with this machine's delegation for a verified session. */
import { ControlRefusal } from '../control/errors.ts';
import type { JoinedSeat } from '../delegation/delegated-boards.ts';
import { endParts } from '../handoff/parts.ts';
import type { Answers, Header, Requests } from '../protocol.ts';
import { bindSeat, requireRoom } from '../sessions/bindings.ts';
import type { Session } from '../sessions/session.ts';
import type { Context } from './context.ts';
import { refuseSubagent, requireTarget, seatsOf, serializeAdditions } from './sessions.ts';

export async function boards(context: Context, frame: Requests['boards']): Promise<Answers['boards']> {
  const session = await verifiedSession(context, frame);
  return context.delegatedBoards.boards(session.view, frame);
}

export async function join(context: Context, frame: Requests['join']): Promise<Answers['join']> {
  refuseSubagent(frame.subagent);
  const session = await verifiedSession(context, frame);
  const { code, ...rest } = frame;
  const { board } = frame.agent;
  if (code === undefined && board === undefined)
    throw new ControlRefusal('invalid_request', 'A board or a code is needed.');
  const origin = context.delegatedBoards.originOf(session.view, frame.agent.server);
  return serializeAdditions(session, async () => {
    const existing = session.currentSeats.find(
      ({ row }) => (row.board === board || row.board_id === board) && context.servers.isSame(row.origin, origin),
    );
    requireRoom(session, existing);
    // The seat was taken over by another machine, so received messages are known only from its server.
    if (existing?.row.problem === 'unauthorized') endParts(context, existing);
    // A join code for a board where the session has a seat must not create a second seat.
    const request = existing ? rest : { ...rest, code };
    return bindJoined(context, session, await context.delegatedBoards.join(session.view, request), 'join');
  });
}

export async function createBoard(context: Context, frame: Requests['create_board']): Promise<Answers['join']> {
  refuseSubagent(frame.subagent);
  const session = await verifiedSession(context, frame);
  return serializeAdditions(session, async () => {
    requireRoom(session);
    return bindJoined(context, session, await context.delegatedBoards.createBoard(session.view, frame), 'create_board');
  });
}

/** Binds a joined seat, whose token is saved, to the session. */
function bindJoined(
  context: Context,
  session: Session,
  { seat, mode, answer }: JoinedSeat,
  ev: 'join' | 'create_board',
): Answers['join'] {
  const { previous } = bindSeat(context, session, seat);
  context.seats.saveAnnouncedMode(seat, context.seats.of(seat)?.row.mode ?? mode);
  context.log.write(ev, { session: session.key, seats: [seat.member_id] });
  return { ...answer, mode, previous, seats: seatsOf(session) };
}

/** The registered, open session of a frame; its program is asked whether the session exists. */
async function verifiedSession(context: Context, frame: Header): Promise<Session> {
  const session = context.sessions.get(`${frame.harness}:${frame.session}`);
  // A generated boot id is a placeholder until a hook reports the real one.
  const own = session?.row.boot.startsWith('boot_') || session?.row.boot === (frame.boot ?? session?.row.boot);
  if (!session?.row.open || !own) throw noSession();
  requireTarget(await context.adapters.of(frame.harness).check(session.view));
  session.unverified = false;
  return session;
}

const noSession = (): ControlRefusal =>
  new ControlRefusal('agent_session_required', 'Only a session of an agent program may do this.', {
    hint: 'Ask your person to run: service board list',
  });

/** Pairing requests of a session. Proofs never leave the daemon. */
export async function pairing(context: Context, frame: Requests['pairing']): Promise<Answers['pairing']> {
  refuseSubagent(frame.subagent);
  const session = await verifiedSession(context, frame);
  return context.pairing.answer(session, frame, async (board) => {
    await serializeAdditions(session, async () => {
      const joined = await context.delegatedBoards.join(session.view, { agent: { server: frame.server, board } });
      return bindJoined(context, session, joined, 'join');
    });
  });
}
