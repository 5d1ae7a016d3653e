/** Verbs of hooks that report turns, and answer them with waiting messages. */
import { withTimeout } from '../clock.ts';
import { ANSWER_TIMEOUT_MS } from '../control/limits.ts';
import type { Peer } from '../control/peer.ts';
import { revive } from '../handoff/flight.ts';
import { hasNothingFor, prepareOffer, sendOffer, turnScope } from '../handoff/hand-to-hook.ts';
import { markLeftQueue } from '../handoff/queued.ts';
import { checkReceipt } from '../handoff/receipt.ts';
import type { Answers, Carry, FollowUps, Header, Requests } from '../protocol.ts';
import type { Session } from '../sessions/session.ts';
import type { Context } from './context.ts';
import { useTicket } from './launch.ts';

const DUPLICATE_US = 1_000_000;
const MAX_CONTINUATIONS = 20;
/** After the maximum of continuations, delivery pauses for this time, then uses the queue. */
const CONTINUATION_PAUSE_US = 30_000_000;
/** How long a boundary waits for the claims of others; git and a server may take seconds. */
const CLAIMS_TIMEOUT_MS = 500;

const startedAt = ({ clock }: Context, { started }: Pick<Header, 'started'>): number => started || clock.nowUs();

/** A turn has begun. @returns whether its prompt is the echo of a wake */
export function turnStarted(
  context: Context,
  session: Session,
  frame: Partial<Pick<Header, 'started'>> & Pick<FollowUps['prompt'], 'wake' | 'handoff_id'>,
): boolean {
  const startedUs = startedAt(context, { started: frame.started });
  const wakeOf = frame.wake ? frame.handoff_id : undefined;
  markBusy(context, session, startedUs);
  // The session has the text, even if the carrier's confirmation was lost.
  if (wakeOf && !session.flight) revive(context, session, wakeOf);
  if (wakeOf) markLeftQueue(context, session, wakeOf);
  const echo = checkReceipt(context, session, { kind: 'prompt', startedUs, wakeOf });
  session.continuations = 0;
  context.sessions.recordTurn(session, 'busy', true);
  return echo;
}

/** Marks a turn as running, even if the journal cannot be written, and releases a waiting hook. */
function markBusy(context: Context, session: Session, startedUs: number): void {
  session.activityUs = Math.max(session.activityUs, startedUs);
  session.turn = 'busy';
  context.sessions.release(session, 'waiting');
}

export function prompt(context: Context, frame: Requests['prompt']): Answers['prompt'] {
  const session = context.sessions.forEvent(frame);
  if (session && !isDuplicate(context, session, frame)) turnStarted(context, session, frame);
  return {};
}

export async function turnStart(context: Context, frame: Requests['turn_start'], peer: Peer): Promise<void> {
  const receivedUs = context.clock.nowUs();
  const session = context.sessions.forEvent(frame);
  if (!session || isDuplicate(context, session, frame)) return void peer.send({});
  if (frame.launch) useTicket(context, session, frame.launch);
  const echo = turnStarted(context, session, frame);
  const turn_id = session.row.turn_id;
  if (echo) return void peer.send({ turn_id });
  await answer(context, session, peer, 'turn_start', receivedUs, { turn_id });
  context.metrics.count('turn_starts');
  context.metrics.addHook((context.clock.nowUs() - receivedUs) / 1000);
}

export async function boundary(context: Context, frame: Requests['boundary'], peer: Peer): Promise<void> {
  const begun = context.clock.nowUs();
  const session = context.sessions.forEvent(frame);
  if (!session) return void peer.send({});
  const startedUs = startedAt(context, frame);
  session.lastTurnEvent = null;
  if (frame.capabilities.length > 0) session.capabilities = frame.capabilities;
  const known = session.turn === 'busy' && !session.needsPerson;
  markBusy(context, session, startedUs);
  checkReceipt(context, session, { kind: 'tool', startedUs });
  if (!known) context.sessions.recordTurn(session, 'busy');
  if (frame.claims) {
    const checked = context.claims.atBoundary(session, frame.files, frame.cwd ?? session.row.cwd ?? '/');
    // What is found later is told with the next text.
    await withTimeout(context.clock, CLAIMS_TIMEOUT_MS, checked, () => {});
  }
  // With two hooks at one boundary, only one gets the text.
  if (session.boundary) peer.send({});
  else if (hasNothingFor(context, session, 'boundary')) sendOffer(context, session, peer, null);
  else {
    session.boundary = true;
    try {
      await answer(context, session, peer, 'boundary', begun);
    } finally {
      session.boundary = false;
    }
    context.metrics.count('boundaries');
    context.log.write('boundary', { session: session.key, ms: Math.round((context.clock.nowUs() - begun) / 1000) });
  }
  context.metrics.addHook((context.clock.nowUs() - begun) / 1000);
}

export async function turnEnd(context: Context, frame: Requests['turn_end'], peer: Peer): Promise<void> {
  const session = context.sessions.forEvent(frame);
  if (!session || isDuplicate(context, session, frame)) return void peer.send({});
  const given = await turnEnded(context, session, frame, peer);
  if (!given) peer.send({});
}

/** Ends the turn, or continues it with a bundle. @returns whether it was continued, so that the hook is answered */
export async function turnEnded(
  context: Context,
  session: Session,
  frame: Partial<Pick<Header, 'started' | 'turn_id'>> & { stop_active: boolean },
  peer: Peer | null,
): Promise<boolean> {
  const startedUs = startedAt(context, { started: frame.started });
  if (frame.turn_id !== undefined && frame.turn_id !== session.row.turn_id) return false;
  if (startedUs < session.activityUs) return false;
  checkReceipt(context, session, { kind: 'turn_end', startedUs });
  if (!frame.stop_active) session.continuations = 0;
  const continues = peer !== null && context.adapters.of(session.row.harness).capabilities.has('turn-end-hook');
  if (continues && session.continuations < MAX_CONTINUATIONS) {
    const made = await withTimeout(
      context.clock,
      ANSWER_TIMEOUT_MS.turn_end,
      prepareOffer(context, session, 'turn_end', turnScope(context, session, 2_500)),
      () => null,
    );
    if (made?.manifest) {
      try {
        sendOffer(context, session, peer, made);
      } catch (error) {
        turnOver(context, session);
        throw error;
      }
      session.continuations++;
      const { flight } = session;
      const { turn_id } = session.row;
      // A hook that ended before it printed the bundle did not continue the turn.
      peer.onClose(() => {
        const accepted = flight !== null && flight.acceptedUs !== null;
        const later = session.row.turn_id !== turn_id || startedUs < session.activityUs;
        if (!accepted && !later) turnOver(context, session);
      });
      return true;
    }
    // A prompt or a tool call came meanwhile, so a turn is running.
    if (startedUs < session.activityUs) return false;
  }
  turnOver(context, session);
  return false;
}

/** The session is idle, and may be woken. */
function turnOver(context: Context, session: Session): void {
  if (session.continuations >= MAX_CONTINUATIONS) session.notBeforeUs = context.clock.nowUs() + CONTINUATION_PAUSE_US;
  session.readyUs = context.clock.nowUs();
  context.sessions.recordTurn(session, 'idle');
  context.events.emit('deliverable', session);
}

/** Records that the session waits for its person, unless a later event has already arrived. */
export function needsPerson(context: Context, session: Session, frame: FollowUps['needs_person']): void {
  if (startedAt(context, { started: frame.started }) < session.activityUs) return;
  const { what, question, where } = frame;
  // A later notification without a question must not replace the question.
  if (question !== undefined || !session.needsPerson)
    session.needsPerson = { for: what, ...(question ? { question } : {}), ...(where ? { where } : {}) };
  context.events.emit('changed', session);
}

/** Answers a hook within its timeout, which began at `sinceUs`; afterwards it gets an empty answer, without a handoff. */
async function answer(
  context: Context,
  session: Session,
  peer: Peer,
  point: 'turn_start' | 'boundary',
  sinceUs: number,
  extra: Carry = {},
): Promise<void> {
  const spent = Math.round((context.clock.nowUs() - sinceUs) / 1000);
  const budget = ANSWER_TIMEOUT_MS[point] - 200 - spent;
  const made = await withTimeout(
    context.clock,
    budget,
    prepareOffer(context, session, point, turnScope(context, session, budget - 100)),
    () => {
      context.log.write('slow_op', { session: session.key, op: point, ms: budget }, 'warn');
      return null;
    },
  );
  sendOffer(context, session, peer, made, extra);
}

/**
 * Whether two hooks reported one event, because hooks are installed in two places. Only direct repetitions within a second
 * count, because a harness may reuse a turn's name. A stop hook of a continued turn that started after the earlier one was
 * handled is a new event.
 */
function isDuplicate(context: Context, session: Session, frame: Header & { op: string; stop_active?: boolean }) {
  const turn = frame.harness_turn ?? frame.turn_id;
  if (turn === undefined) return false;
  const now = context.clock.nowUs();
  const last = session.lastTurnEvent;
  session.lastTurnEvent = { key: `${frame.op} ${turn}`, us: now };
  if (last?.key !== session.lastTurnEvent.key || now - last.us >= DUPLICATE_US) return false;
  return !(frame.stop_active && frame.started !== undefined && frame.started > last.us);
}
