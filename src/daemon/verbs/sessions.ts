/** Sessions and their seats: registering, binding, and what a session may ask about itself. */
import { quoted, shellWord } from '../bundle/escape.ts';
import type { Core } from '../core.ts';
import { handedTo } from '../handoff/flight.ts';
import { tryAgain } from '../handoff/queue.ts';
import type { Requests } from '../protocol.ts';
import { useTicket } from '../sessions/launch.ts';
import type { Session } from '../sessions/session.ts';
import { anotherProcess } from '../sessions/sessions.ts';
import { type AgentRef, ControlRefusal, type SeatIdentity, type Target } from '../types.ts';

const REPEATED_US = 1_000_000;
const NOTE_MS = 5_000;
/** A session that is started with a prompt has it within this; until then nothing is entered ahead of it. */
const FIRST_PROMPT_US = 1_000_000;

const adapterRefusals = {
  harness_target_absent: 'The program of this session says that there is no such session.',
  harness_subagent_target: 'This is a conversation inside another one, which holds no seat.',
  harness_unavailable: 'The program of this session could not be asked about it.',
} as const;

export async function register(core: Core, frame: Requests['register']): Promise<object> {
  refuseSubagent(frame.subagent);
  const known = () => core.sessions.get(`${frame.harness}:${frame.session}`);
  const before = known();
  if (before && repeated(core, before, frame)) return asBefore(core, before, frame);
  const checked = await core.adapters.of(frame.harness).check(core.sessions.proposed(frame));
  // Before its first turn a session is taken at its word, as long as no seat goes with it.
  const unproven = checked === 'unstarted' && !before?.seats.size;
  if (!unproven) requireTarget(checked);
  // Its twin was asked about at the same time, and came first.
  const meanwhile = known();
  if (meanwhile && repeated(core, meanwhile, frame)) return asBefore(core, meanwhile, frame);
  const { session, reopened, renewed } = core.sessions.register(frame, frame.source);
  session.registered.set(frame.source, core.clock.nowUs());
  if (core.adapters.of(frame.harness).capabilities.has('owner-door'))
    session.notBeforeUs = Math.max(session.notBeforeUs, core.clock.nowUs() + FIRST_PROMPT_US);
  session.unproven = unproven;
  if (frame.launch) useTicket(core, session, frame.launch);
  if (!before || reopened || renewed) tryAgain(core, session);
  core.consider(session);
  return { ...(await welcome(core, session)), ...(reopened ? { reopened } : {}), turn_id: session.row.turn_id };
}

function asBefore(core: Core, session: Session, { launch }: Requests['register']): object {
  if (launch) useTicket(core, session, launch);
  return { boot: session.row.boot, seats: seatsOf(session), turn_id: session.row.turn_id };
}

/** @throws ControlRefusal for a session that its program does not vouch for. */
export function requireTarget(checked: Target): void {
  if (checked === 'ok') return;
  const code = checked === 'unstarted' ? 'harness_target_absent' : checked.code;
  throw new ControlRefusal(code, adapterRefusals[code], { hint: 'service doctor' });
}

/** Asks again about a session that was taken at its word: a seat goes only to one that its program knows. */
async function requireProven(core: Core, session: Session): Promise<void> {
  if (!session.unproven) return;
  requireTarget(await core.adapters.of(session.row.harness).check(session.view));
  session.unproven = false;
}

/** Who the session is, for its next context: its seats with where each stands, and which were taken meanwhile. */
export async function welcome(
  core: Core,
  session: Session,
): Promise<{ boot: string; seats: object[]; lost?: AgentRef[]; note?: string }> {
  const lost = core.journal.lostOf(session.key);
  const seats = await Promise.all(
    [...session.seats].map(async (seat) => {
      const read = await core.origins
        .at(seat.row.origin)
        .read(seat.row, { timeoutMs: NOTE_MS })
        .catch(() => null);
      if (read) core.seats.readDone(seat, read);
      // What it was given is not to be read again.
      const unread = Math.max(0, seat.unread - handedTo(core, seat).length);
      return { seat: seat.identity, mode: seat.row.mode, inbox: read && { ...read.inbox, unread } };
    }),
  );
  const note = [
    ...(seats.length > 0 ? [core.compose.note(seats)] : []),
    ...lost.map(
      ({ name, board }) =>
        `service: another session took ${quoted(name)} on ${quoted(board)}. To take it back: service resume ${shellWord(name)}`,
    ),
  ];
  for (const { seat, mode } of seats) core.seats.told(seat, mode);
  return {
    boot: session.row.boot,
    seats: seatsOf(session),
    ...(lost.length > 0 ? { lost: lost.map(asRef) } : {}),
    ...(note.join('\n') ? { note: note.join('\n') } : {}),
  };
}

export function bind(core: Core, frame: Requests['bind']): Promise<object> {
  refuseSubagent(frame.subagent);
  const session = core.sessions.known(frame);
  return oneByOne(session, async () => {
    await requireProven(core, session);
    const seat = seatMeant(core, frame.agent);
    const { previous } = core.seats.bind(session, seat);
    await modeOf(core, seat);
    const bound = core.seats.of(seat)!;
    core.seats.told(seat, bound.row.mode);
    tryAgain(core, session);
    return { seats: seatsOf(session), ...(previous ? { previous } : {}), mode: bound.row.mode };
  });
}

/** Additions of seats to one session come one after the other, with everything that is checked before. */
export function oneByOne<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const mine = session.additions.catch(() => {}).then(work);
  session.additions = mine;
  return mine;
}

/** The server's word on the mode, where it comes soon; else what is known. */
async function modeOf(core: Core, identity: SeatIdentity): Promise<void> {
  const seat = core.seats.of(identity)!;
  const read = await core.origins
    .at(identity.origin)
    .read(identity, { timeoutMs: 1_500 })
    .catch(() => null);
  if (read) core.seats.readDone(seat, read);
}

export function unbind(core: Core, frame: Requests['unbind']): object {
  const session = core.sessions.known(frame);
  const held = [...session.seats].find((seat) => fits(seat.ref, frame.agent));
  if (held) core.seats.unbind(session, held);
  return { seats: seatsOf(session) };
}

export function agents(core: Core, frame: Requests['agents']): object {
  const session = core.sessions.known(frame);
  return {
    seats: seatsOf(session),
    boot: session.row.boot,
    turn: session.turn,
    ...(session.capabilities.length > 0 ? { capabilities: session.capabilities } : {}),
  };
}

export function mode(core: Core, frame: Requests['mode']): object {
  const seat = core.seats.of(seatMeant(core, frame.agent));
  if (!seat) throw unknownSeat(frame.agent);
  const changed =
    frame.mode !== undefined && frame.revision !== undefined && core.seats.applyMode(seat, frame.mode, frame.revision);
  return { mode: seat.row.mode, revision: seat.row.mode_revision, changed };
}

export function approvalWatch(core: Core, frame: Requests['approval_watch']): object {
  const session = core.sessions.known(frame);
  const { origin, member_id } = seatMeant(core, frame.agent);
  core.journal.watchApproval({
    origin,
    member_id,
    approval_id: frame.approval_id,
    session_key: session.key,
    boot: session.row.boot,
    at: core.clock.now(),
  });
  return {};
}

export const seatsOf = (session: Session): object[] => [...session.seats].map((seat) => seat.view);

export function refuseSubagent(subagent: string | undefined): void {
  if (subagent === undefined) return;
  throw new ControlRefusal('subagent_session', 'A subagent takes no seat; its session does.', {
    hint: 'Run this in the session itself',
  });
}

/** The one seat of this machine that is meant. What a client says of an id counts only where a saved token proves it. */
export function seatMeant(core: Core, agent: AgentRef): SeatIdentity {
  const [seat, ...others] = core.saved.find(agent);
  if (seat && others.length === 0) return seat;
  throw seat
    ? new ControlRefusal('invalid_request', `${agent.name} on ${agent.board} is more than one seat here.`)
    : unknownSeat(agent);
}

const unknownSeat = ({ name, board }: AgentRef): ControlRefusal =>
  new ControlRefusal('invalid_request', `This machine holds no seat ${name} on ${board} whose token proves it.`, {
    hint: 'service agents',
  });

export const fits = (own: AgentRef, meant: AgentRef): boolean =>
  own.server === meant.server &&
  (meant.member_id === undefined
    ? own.board === meant.board && own.name === meant.name
    : own.member_id === meant.member_id);

const asRef = ({ origin, board, name, member_id, board_id }: SeatIdentity): AgentRef => ({
  server: origin,
  board,
  name,
  member_id,
  board_id,
});

/** With hooks in two places the harness starts a session twice. Another process is another start, however soon it comes. */
function repeated(core: Core, session: Session, frame: Requests['register']): boolean {
  if (anotherProcess(session.row, frame)) return false;
  const before = session.registered.get(frame.source);
  return before !== undefined && core.clock.nowUs() - before < REPEATED_US && session.row.open;
}
