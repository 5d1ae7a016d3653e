/** What hooks tell of a session's turns, and what they take along. */

import { within } from '../clock.ts';
import { BUDGET_MS } from '../control/limits.ts';
import type { Peer } from '../control/peer.ts';
import type { Core } from '../core.ts';
import { gatherCarry, give, nothingFor, placeOf } from '../handoff/carry.ts';
import { evidence, revive } from '../handoff/flight.ts';
import { leftQueue } from '../handoff/queued.ts';
import type { FollowUps, Header, Requests } from '../protocol.ts';
import { useTicket } from '../sessions/launch.ts';
import type { Session } from '../sessions/session.ts';
import type { Carry, Point } from '../types.ts';

const REPEATED_US = 1_000_000;
const CONTINUATIONS = 20;
/** After so many the queue takes over, when the session has been idle for this long. */
const QUEUE_AFTER_US = 30_000_000;

const began = (core: Core, { started }: Pick<Header, 'started'>): number => started || core.clock.nowUs();

/** The harness has begun a turn. @returns whether that is the echo of a wake */
export function promptBegan(
  core: Core,
  session: Session,
  frame: Partial<Pick<Header, 'started'>> & Pick<FollowUps['prompt'], 'wake' | 'handoff_id'>,
): boolean {
  const startedUs = began(core, { started: frame.started });
  const wakeOf = frame.wake ? frame.handoff_id : undefined;
  running(core, session, startedUs);
  // The text is in the session, whatever became of the word that it was taken.
  if (wakeOf && !session.flight) revive(core, session, wakeOf);
  if (wakeOf) leftQueue(core, session, wakeOf);
  const echo = evidence(core, session, { kind: 'prompt', startedUs, wakeOf });
  session.continuations = 0;
  core.sessions.turned(session, 'busy', true);
  return echo;
}

/** A turn runs, whether or not that can be written down: nothing enters it by a hook that still waits. */
function running(core: Core, session: Session, startedUs: number): void {
  session.activityUs = Math.max(session.activityUs, startedUs);
  session.turn = 'busy';
  core.sessions.release(session, 'waiting');
}

export function prompt(core: Core, frame: Requests['prompt']): object {
  const session = core.sessions.forEvent(frame);
  if (session && !repeated(core, session, frame)) promptBegan(core, session, frame);
  return {};
}

export async function turnStart(core: Core, frame: Requests['turn_start'], peer: Peer): Promise<void> {
  const begun = core.clock.nowUs();
  const session = core.sessions.forEvent(frame);
  if (!session || repeated(core, session, frame)) return void peer.send({});
  if (frame.launch) useTicket(core, session, frame.launch);
  const echo = promptBegan(core, session, frame);
  const turn_id = session.row.turn_id;
  if (echo) return void peer.send({ turn_id });
  await answer(core, session, peer, 'turn_start', { turn_id });
  core.metrics.count('turn_starts');
  core.metrics.hook((core.clock.nowUs() - begun) / 1000);
}

export async function boundary(core: Core, frame: Requests['boundary'], peer: Peer): Promise<void> {
  const begun = core.clock.nowUs();
  const session = core.sessions.forEvent(frame);
  if (!session) return void peer.send({});
  const startedUs = began(core, frame);
  session.lastTurnEvent = null;
  if (frame.capabilities.length > 0) session.capabilities = frame.capabilities;
  const known = session.turn === 'busy' && !session.needsPerson;
  running(core, session, startedUs);
  evidence(core, session, { kind: 'tool', startedUs });
  if (!known) core.sessions.turned(session, 'busy');
  // Of two hooks at one boundary one gets the text.
  if (session.boundary || nothingFor(core, session, 'boundary')) peer.send({});
  else {
    session.boundary = true;
    try {
      await answer(core, session, peer, 'boundary');
    } finally {
      session.boundary = false;
    }
    core.metrics.count('boundaries');
    core.log.write('boundary', { session: session.key, ms: Math.round((core.clock.nowUs() - begun) / 1000) });
  }
  core.metrics.hook((core.clock.nowUs() - begun) / 1000);
}

export async function turnEnd(core: Core, frame: Requests['turn_end'], peer: Peer): Promise<void> {
  const session = core.sessions.forEvent(frame);
  if (!session || repeated(core, session, frame)) return void peer.send({});
  const given = await turnEnded(core, session, frame, peer);
  if (!given) peer.send({});
}

/** The turn is over, unless its end takes a bundle along. @returns whether it does, and was answered */
export async function turnEnded(
  core: Core,
  session: Session,
  frame: Partial<Pick<Header, 'started' | 'turn_id'>> & { stop_active: boolean },
  peer: Peer | null,
): Promise<boolean> {
  const startedUs = began(core, { started: frame.started });
  if (frame.turn_id !== undefined && frame.turn_id !== session.row.turn_id) return false;
  if (startedUs < session.activityUs) return false;
  evidence(core, session, { kind: 'turn_end', startedUs });
  if (!frame.stop_active) session.continuations = 0;
  const continues = peer !== null && core.adapters.of(session.row.harness).capabilities.has('turn-end-hook');
  if (continues && session.continuations < CONTINUATIONS) {
    const made = await within(
      core.clock,
      BUDGET_MS.turn_end,
      gatherCarry(core, session, 'turn_end', placeOf(core, session, 2_500)),
      () => null,
    );
    if (made?.manifest) {
      session.continuations++;
      give(core, session, peer, made);
      return true;
    }
  }
  if (session.continuations >= CONTINUATIONS) session.notBeforeUs = core.clock.nowUs() + QUEUE_AFTER_US;
  session.readyUs = core.clock.nowUs();
  core.sessions.turned(session, 'idle');
  core.consider(session);
  return false;
}

/** The session waits for its person, until its next event: one that came meanwhile has ended that already. */
export function needsPerson(core: Core, session: Session, frame: Partial<Pick<Header, 'started'>> = {}): void {
  if (began(core, { started: frame.started }) < session.activityUs) return;
  session.needsPerson = true;
  core.sessions.changed(session);
}

/** Answers a hook within its budget; when that is over it gets nothing, and nothing is on its way. */
async function answer(core: Core, session: Session, peer: Peer, point: Point, extra: Carry = {}): Promise<void> {
  const budget = BUDGET_MS[point === 'turn_start' ? 'turn_start' : 'boundary'] - 200;
  const made = await within(
    core.clock,
    budget,
    gatherCarry(core, session, point, placeOf(core, session, budget - 100)),
    () => {
      core.log.write('slow_op', { session: session.key, op: point, ms: budget }, 'warn');
      return null;
    },
  );
  give(core, session, peer, made, extra);
}

/**
 * With hooks in two places the harness calls both for one event, and nothing else happens in between. A harness may call
 * several turns the same: what a person enters as a turn ends can go on with that one, and has a start and an end of its own.
 * A stop hook of a turn that one before it continued is another event too: its process began when the earlier one had been heard.
 */
function repeated(core: Core, session: Session, frame: Header & { op: string; stop_active?: boolean }): boolean {
  const turn = frame.harness_turn ?? frame.turn_id;
  if (turn === undefined) return false;
  const now = core.clock.nowUs();
  const last = session.lastTurnEvent;
  session.lastTurnEvent = { key: `${frame.op} ${turn}`, us: now };
  if (last?.key !== session.lastTurnEvent.key || now - last.us >= REPEATED_US) return false;
  return !(frame.stop_active && frame.started !== undefined && frame.started > last.us);
}
