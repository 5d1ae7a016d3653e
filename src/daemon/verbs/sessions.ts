/** Verbs about sessions and their seats: registering, binding, and queries. */
import type { Target } from '../adapter.ts';
import { compose } from '../compose/compose.ts';
import { ControlRefusal } from '../control/errors.ts';
import type { Peer } from '../control/peer.ts';
import { unconfirmedSeqs } from '../handoff/flight.ts';
import { awaitTold } from '../handoff/hand-to-hook.ts';
import { noEffects } from '../handoff/own-lines.ts';
import { retryAttention } from '../handoff/queue.ts';
import type { AgentRef, Answers, Requests, SeatView } from '../protocol.ts';
import { agentRefOf, isFinal, type SeatIdentity } from '../refs.ts';
import { bindSeat, releaseSeat } from '../sessions/bindings.ts';
import { goneLines, lostBy } from '../sessions/gone.ts';
import type { Effects, Session } from '../sessions/session.ts';
import { isOtherProcess, isSameProcess } from '../sessions/sessions.ts';
import type { Context } from './context.ts';
import { useTicket } from './launch.ts';

const DUPLICATE_US = 1_000_000;
const READ_TIMEOUT_MS = 5_000;
/** A session started with a prompt gets it within this time; nothing is delivered before. */
const FIRST_PROMPT_US = 1_000_000;

const adapterRefusals = {
  harness_target_absent: 'The program of this session says that there is no such session.',
  harness_subagent_target: 'This is a conversation inside another one, which holds no seat.',
  harness_unavailable: 'The program of this session could not be asked about it.',
} as const;

export async function register(
  context: Context,
  frame: Requests['register'],
  peer: Peer,
): Promise<Answers['register']> {
  refuseSubagent(frame.subagent);
  const known = () => context.sessions.get(`${frame.harness}:${frame.session}`);
  const before = known();
  if (before && isDuplicate(context, before, frame)) return duplicateAnswer(context, before, frame);
  const checked = await context.adapters.of(frame.harness).check(context.sessions.preview(frame));
  // A session without seats is accepted unverified before its first turn.
  const unproven = checked === 'unstarted' && !before?.seats.size;
  if (!unproven) requireTarget(checked);
  // A duplicate request may have registered the session during the check.
  const meanwhile = known();
  if (meanwhile && isDuplicate(context, meanwhile, frame)) return duplicateAnswer(context, meanwhile, frame);
  const { session, reopened, renewed } = context.sessions.register(frame, frame.source);
  session.registeredUs.set(frame.source, context.clock.nowUs());
  if (context.adapters.of(frame.harness).capabilities.has('owner-door')) {
    session.notBeforeUs = Math.max(session.notBeforeUs, context.clock.nowUs() + FIRST_PROMPT_US);
    closeEarlier(context, session);
  }
  session.unverified = unproven;
  if (frame.launch) useTicket(context, session, frame.launch);
  if (!before || reopened || renewed) retryAttention(context.journal, session);
  context.events.emit('deliverable', session);
  const { effects, ...answer } = await welcome(context, session);
  // A command that registers its session prints no note, and confirms none.
  const handoff_id = answer.note ? awaitTold(context, session, peer, effects) : undefined;
  return { ...answer, handoff_id, reopened, turn_id: session.row.turn_id };
}

/** Closes the other sessions of a program that has one at a time, so that its door serves the one it shows. */
function closeEarlier({ sessions }: Context, session: Session): void {
  for (const other of sessions.open())
    if (other !== session && isSameProcess(other.row, session.row)) sessions.close(other, 'replaced');
}

function duplicateAnswer(context: Context, session: Session, { launch }: Requests['register']): Answers['register'] {
  if (launch) useTicket(context, session, launch);
  return { boot: session.row.boot, seats: seatsOf(session), turn_id: session.row.turn_id };
}

/** @throws ControlRefusal if the program does not confirm the session */
export function requireTarget(checked: Target): void {
  if (checked === 'ok') return;
  const code = checked === 'unstarted' ? 'harness_target_absent' : checked.code;
  throw new ControlRefusal(code, adapterRefusals[code], { hint: 'service doctor' });
}

/** Verifies a session that was accepted unverified, because only verified sessions get seats. */
async function requireKnownToProgram(context: Context, session: Session): Promise<void> {
  if (!session.unverified) return;
  requireTarget(await context.adapters.of(session.row.harness).check(session.view));
  session.unverified = false;
}

/** The session's seats with their state, the seats it lost, the note for its agent, and what that tells. */
export async function welcome(
  context: Context,
  session: Session,
): Promise<{ boot: string; seats: SeatView[]; lost?: AgentRef[]; note?: string; effects: Effects }> {
  const read = await Promise.all(
    [...session.seats].map(async (seat) => {
      const answer = await context.servers
        .at(seat.row.origin)
        .read(seat.row, { timeoutMs: READ_TIMEOUT_MS })
        .catch(() => null);
      // Messages in flight do not count as unread.
      const unread = Math.max(0, seat.unread - unconfirmedSeqs(context.journal, seat).length);
      return { seat: seat.identity, mode: seat.row.mode, inbox: answer && { ...answer.inbox, unread } };
    }),
  );
  // A seat may have ended before, and a read may have found that it did; another session may have taken it meanwhile.
  const seats = read.filter(({ seat }) => {
    const now = context.seats.of(seat);
    return now?.session === session && !isFinal(now.row.problem);
  });
  const { lines, ...gone } = goneLines(context, session, true);
  const note = [...(seats.length > 0 ? [compose.note(seats)] : []), ...lines];
  const modes = seats.map(({ seat, mode }) => ({ origin: seat.origin, member_id: seat.member_id, mode }));
  return {
    boot: session.row.boot,
    seats: seatsOf(session),
    lost: lostBy(context, session).map(agentRefOf),
    note: note.join('\n'),
    effects: { ...noEffects, gone, modes },
  };
}

export function bind(context: Context, frame: Requests['bind']): Promise<Answers['bind']> {
  refuseSubagent(frame.subagent);
  const session = context.sessions.requireOpen(frame);
  return serializeAdditions(session, async () => {
    await requireKnownToProgram(context, session);
    const seat = resolveSeat(context, frame.agent);
    const { previous } = bindSeat(context, session, seat);
    retryAttention(context.journal, session);
    // A read updates the mode, if the server answers soon, and wakes the session for what waits.
    await context.servers
      .at(seat.origin)
      .read(seat, { timeoutMs: 1_500 })
      .catch(() => null);
    const bound = context.seats.of(seat)!;
    context.seats.saveAnnouncedMode(seat, bound.row.mode);
    return { seats: seatsOf(session), previous, mode: bound.row.mode };
  });
}

/** Runs additions of seats to one session one at a time, including their checks. */
export function serializeAdditions<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const mine = session.additions.catch(() => {}).then(work);
  session.additions = mine;
  return mine;
}

export function unbind(context: Context, frame: Requests['unbind']): Answers['unbind'] {
  const session = context.sessions.require(frame);
  const seat = [...session.seats].find((one) => isSameAgent(context, one.ref, frame.agent));
  if (seat) releaseSeat(context, session, seat);
  return { seats: seatsOf(session) };
}

export function agents(context: Context, frame: Requests['agents']): Answers['agents'] {
  const session = context.sessions.require(frame);
  return {
    seats: seatsOf(session),
    lost: lostBy(context, session).map(agentRefOf),
    boot: session.row.boot,
    turn: session.turn,
    capabilities: [...session.capabilities],
  };
}

export function mode(context: Context, frame: Requests['mode']): Answers['mode'] {
  const seat = context.seats.of(resolveSeat(context, frame.agent));
  if (!seat) throw unknownSeat(frame.agent);
  const { mode: to, revision: at } = frame;
  const changed = to !== undefined && at !== undefined && context.updates.applyMode(seat, to, at);
  return { mode: seat.row.mode, revision: seat.row.mode_revision, changed };
}

export function approvalWatch(context: Context, frame: Requests['approval_watch']): Answers['approval_watch'] {
  const session = context.sessions.require(frame);
  const { origin, member_id } = resolveSeat(context, frame.agent);
  context.journal.watchApproval({
    origin,
    member_id,
    approval_id: frame.approval_id,
    session_key: session.key,
    boot: session.row.boot,
    at: context.clock.now(),
  });
  return {};
}

export const seatsOf = (session: Session): SeatView[] => [...session.seats].map((seat) => seat.view);

export function refuseSubagent(subagent: string | undefined): void {
  if (subagent === undefined) return;
  throw new ControlRefusal('subagent_session', 'A subagent takes no seat; its session does.', {
    hint: 'Run this in the session itself',
  });
}

/** The seat of this machine that matches a reference. @throws ControlRefusal if there is none or more than one */
export function resolveSeat(context: Context, agent: AgentRef): SeatIdentity {
  const [seat, ...others] = context.saved.find(agent);
  if (seat && others.length === 0) return seat;
  throw seat
    ? new ControlRefusal('invalid_request', `${agent.name} on ${agent.board} is more than one seat here.`)
    : unknownSeat(agent);
}

const unknownSeat = ({ name, board }: AgentRef): ControlRefusal =>
  new ControlRefusal('invalid_request', `This machine holds no seat ${name} on ${board} whose token proves it.`, {
    hint: 'service agents',
  });

export const isSameAgent = ({ servers }: Context, own: AgentRef, named: AgentRef): boolean =>
  servers.isSame(own.server, named.server) &&
  (named.member_id === undefined
    ? own.board === named.board && own.name === named.name
    : own.member_id === named.member_id);

/** Whether the harness registered the session twice, because hooks are installed in two places. */
function isDuplicate(context: Context, session: Session, frame: Requests['register']): boolean {
  if (isOtherProcess(session.row, frame)) return false;
  const before = session.registeredUs.get(frame.source);
  return before !== undefined && context.clock.nowUs() - before < DUPLICATE_US && session.row.open;
}
