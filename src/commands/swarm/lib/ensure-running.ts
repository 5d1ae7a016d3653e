/** Starts one agent of a swarm unless it already runs, by its launcher or by hand. */

import { createHash } from 'node:crypto';
import { runtime } from '../../../cli/runtime.ts';
import { refOf } from '../../../cli/session/ask-daemon.ts';
import { savedSeats } from '../../../cli/session/own-seats.ts';
import { daemonPaths } from '../../../daemon/paths.ts';
import type { StatusAnswer } from '../../../daemon/protocol.ts';
import { SCAN_INTERVAL_MS, START_GRACE_MS } from '../../../daemon/sessions/liveness.ts';
import { passedEnvironment } from '../../../launch/environment.ts';
import type { StartRequest } from '../../../launch/protocol.ts';
import { dropTicket, issueTicket } from '../../../launch/ticket.ts';
import { type Seat, selectorOf } from '../../../local/actors.ts';
import { Failure } from '../../../local/failure.ts';
import { until } from '../../../local/process.ts';
import { argvOf, firstPrompt, nextPrompt } from './command-lines.ts';
import { type SwarmFile, sameFile } from './file.ts';
import { daemonView, type Holder, holderOf, launched, type Problem } from './look.ts';
import type { Launchers, Planned } from './plan.ts';
import { isUnsure, readSwarm, type StartedAgent, type Swarm, unsureText } from './state.ts';

/** The daemon's next look at all processes closes a session whose process ended; a daemon that just started waits longest. */
const CLOSING_MS = START_GRACE_MS + SCAN_INTERVAL_MS;
const EVERY_MS = 200;

/** What is known of the daemon as a run begins. All agents of the run wait together, until `closedBy`. */
interface DaemonThen {
  status: StatusAnswer | null;
  closedBy: number;
}

/** @param status the daemon's, asked just now */
export const daemonThen = (status: StatusAnswer | null): DaemonThen => ({
  status,
  closedBy: performance.now() + CLOSING_MS,
});

/** What became of one agent. */
export interface AgentStart {
  agent: Planned;
  seat: Seat;
  action: Started['action'] | 'failed';
  /** What its launcher failed with. */
  problem: Problem | null;
  /** The session that held the seat before, which says nothing of the one that was begun now. */
  former: string | null;
}

/** Only within `alone`. A launcher's failure is kept, so that the other agents are started all the same. */
export async function ensureRunning(swarm: Swarm, agent: Planned, seat: Seat, daemon: DaemonThen): Promise<AgentStart> {
  try {
    return await ensure(swarm, agent, seat, daemon);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, message, hint } = error;
    return { agent, seat, action: 'failed', problem: { code, message, hint }, former: null };
  }
}

async function ensure(swarm: Swarm, agent: Planned, seat: Seat, daemon: DaemonThen): Promise<AgentStart> {
  const before = swarm.noted(agent.name);
  const holder = holderOf(daemon.status, seat.memberId);
  const start = { agent, seat, problem: null, former: null };
  // A start whose end nobody noted is asked for again: its launcher tells what came of it.
  const unsure = before !== null && isUnsure(before);
  const own = before && !unsure ? await launched(swarm.launchers, swarm.name, agent.name, before) : null;
  if (before && (own?.state === 'running' || own?.state === 'unknown')) {
    if (before.wish !== settingsHash(agent)) warnChanged(swarm, agent);
    return { ...start, action: 'running' };
  }
  const asked = unsure && before.launcher === agent.launcher;
  if (!asked && holder?.open && (await runsByHand({ agent, seat, holder, before }, daemon.closedBy)))
    return { ...start, action: 'running' };
  if (unsure && !asked) warnMayRun(swarm, agent, before);
  const seats = savedSeats();
  const { launchers, name, file } = swarm;
  const starting = { swarm: name, file, agent, seat, seats, holder, before, launchers };
  const { action, started } = await startAgent(starting, (first) => swarm.note(agent.name, first));
  swarm.note(agent.name, started);
  return { ...start, action, former: action === 'started' ? (holder?.session ?? null) : null };
}

/**
 * Whether somebody else runs the agent. Its own last session may not be known to be over yet, which is waited for. That
 * session says nothing where a process outlives its terminal, or where each start has a session of its own.
 */
async function runsByHand(
  { agent, seat, holder, before }: Pick<Starting, 'agent' | 'seat' | 'before'> & { holder: Holder },
  closedBy: number,
): Promise<boolean> {
  if (before === null) return true;
  const { mode, profile } = agent;
  const says = mode === 'interactive' && !profile.lifecycle.outlives_terminal;
  if (!says && holder.session === before.session) return false;
  const closed = async () => !holderOf(await daemonView(), seat.memberId)?.open;
  return !(await until(closed, closedBy - performance.now(), EVERY_MS));
}

function warnChanged(swarm: Swarm, { name }: Planned): void {
  const again = ['down', 'up'].map((verb) => swarm.command(`${verb} --only ${name}`));
  swarm.out.warn('agent_changed', `${name} runs as service.yaml had it before.`, again.join(' && '));
}

/** Another launcher cannot tell what became of it. */
function warnMayRun({ out }: Swarm, { name, launcher }: Planned, before: StartedAgent): void {
  const message = `${name}: ${unsureText(before).replace(/\.$/, '')}; ${launcher} starts it now.`;
  out.warn('agent_may_run', message, `If it runs, stop it where ${before.launcher} runs it`);
}

/** Names each agent that runs although the file, which it was started from, no longer has it. Only within `alone`. */
export async function warnTakenOut(swarm: Swarm, { path, agents }: SwarmFile): Promise<void> {
  for (const [name, started] of Object.entries(readSwarm(swarm.name)?.agents ?? {})) {
    if (!sameFile(started.file, path) || agents.some((agent) => agent.name === name)) continue;
    const { state } = await launched(swarm.launchers, swarm.name, name, started);
    if (state !== 'running' && state !== 'unknown') continue;
    const runs = state === 'running' ? 'runs' : 'may run';
    const hint = `To stop it: ${swarm.command(`down --only ${name}`)}`;
    swarm.out.warn('agent_not_in_file', `${name} ${runs}, but service.yaml no longer has it.`, hint);
  }
}

interface Starting {
  swarm: string;
  /** The path of service.yaml. */
  file: string;
  agent: Planned;
  seat: Seat;
  /** Every seat of this machine, among which this one has to be told apart. */
  seats: readonly Seat[];
  holder: Holder | null;
  before: StartedAgent | null;
  launchers: Launchers;
}

interface Started {
  /** `running`: its launcher says that it runs already. */
  action: 'started' | 'resumed' | 'running';
  started: StartedAgent;
}

/** @param note is called with what is noted before anything runs, and again where the launcher refused. @throws Failure of the launcher; then nothing runs */
async function startAgent(starting: Starting, note: (started: StartedAgent) => void): Promise<Started> {
  const { agent, launchers } = starting;
  const session = conversationOf(starting);
  const { request, withdraw } = requestFor(starting, session);
  const started = noteOf(starting, session);
  note(started);
  try {
    const { handle, attach = null } = await launchers.named(agent.launcher).start(request);
    return { action: session === null ? 'started' : 'resumed', started: { ...started, handle, attach } };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // A launcher that never answered may have started it all the same, and then it needs its ticket.
    if (error.code === 'launcher_failed') throw error;
    withdraw();
    if (error.code !== 'already_running') {
      note({ ...started, started_at: null });
      throw error;
    }
    const { handle = null, attach = null } = (error.details ?? {}) as { handle?: string; attach?: string };
    const found = { handle, attach, no_handle: handle === null };
    return { action: 'running', started: { ...started, session: starting.before?.session ?? null, ...found } };
  }
}

/** What its launcher is asked, and how its ticket is taken back where nothing came of that. */
function requestFor(
  { swarm, agent, seat, seats }: Starting,
  id: string | null,
): { request: StartRequest; withdraw: () => void } {
  const { env, folders } = runtime();
  const { profile, mode } = agent;
  const { launches } = daemonPaths(folders);
  const ticket = mode === 'interactive' && id === null ? issueTicket(launches, refOf(seat), profile.harness) : null;
  const inPrompt = profile.interactive?.launch === 'prompt';
  const prompt = id === null ? firstPrompt({ seat, ticket: inPrompt ? ticket : null }) : nextPrompt(seat);
  const own = selectorOf(refOf(seat), seats);
  // A program that may share a process with other sessions would pass these on to them.
  const inEnvironment = mode === 'interactive' && !inPrompt;
  const identity: Record<string, string> = inEnvironment
    ? { SERVICE_AGENT: own, ...(ticket ? { SERVICE_LAUNCH: ticket } : {}) }
    : {};
  const request = {
    swarm,
    agent: agent.name,
    harness: profile.harness,
    mode,
    argv: argvOf(agent, { seat: own, prompt, session: id }),
    env: { ...passedEnvironment(env, profile.config_dir?.env), ...identity },
    dir: agent.dir,
  };
  return { request, withdraw: () => ticket && dropTicket(launches, ticket) };
}

/** The conversation of the agent in its harness, where that can be taken up again in the same folder. */
function conversationOf({ agent, seat, holder, before }: Starting): string | null {
  const { profile, mode, dir } = agent;
  if (mode !== 'interactive' || !profile.interactive?.resume || !profile.lifecycle.resume_keeps_id) return null;
  const known = holder?.session ?? seat.saved.session;
  const same = before === null || before.dir === dir;
  if (!known?.startsWith(`${profile.harness}:`) || !same || before?.lost_session === known) return null;
  return known.slice(profile.harness.length + 1);
}

/** What is written down of it, first without a handle. */
function noteOf({ agent, seat, before, file }: Starting, session: string | null): StartedAgent {
  const { profile, launcher, mode, dir } = agent;
  return {
    member_id: seat.memberId,
    file,
    harness: profile.harness,
    launcher,
    mode,
    dir,
    wish: settingsHash(agent),
    handle: null,
    attach: null,
    started_at: new Date().toISOString(),
    session: session === null ? null : `${profile.harness}:${session}`,
    lost_session: before?.lost_session ?? null,
  };
}

/** A hash of what `service.yaml` says of an agent, which tells whether that has changed since its start. */
const settingsHash = ({ profile, launcher, mode, dir, model, args, reply }: Planned): string =>
  createHash('sha256')
    .update(JSON.stringify([profile.harness, launcher, mode, dir, model ?? null, args, reply]))
    .digest('hex')
    .slice(0, 16);
