/** Starts one agent of a swarm unless it already runs, by its launcher or by hand. */
import { runtime } from '../../../cli/runtime.ts';
import type { StatusAnswer } from '../../../daemon/protocol.ts';
import { allSeats, type Seat } from '../../../local/actors.ts';
import { Failure } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';
import { until } from '../../../local/process.ts';
import { daemonView, type Holder, holderOf, launched } from './look.ts';
import type { Planned } from './plan.ts';
import type { Problem } from './records.ts';
import { type Started, settingsHash, startAgent } from './starting.ts';
import type { StartedAgent } from './state.ts';
import type { Swarm } from './swarm.ts';

/** A session whose process ended is closed by the daemon's next look at all processes, five seconds later at most. */
const CLOSING_MS = 7_000;
const EVERY_MS = 200;

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
export async function ensureRunning(
  swarm: Swarm,
  agent: Planned,
  seat: Seat,
  status: StatusAnswer | null,
): Promise<AgentStart> {
  try {
    return await ensure(swarm, agent, seat, status);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, message, hint } = error;
    return { agent, seat, action: 'failed', problem: { code, message, hint }, former: null };
  }
}

async function ensure(swarm: Swarm, agent: Planned, seat: Seat, status: StatusAnswer | null): Promise<AgentStart> {
  const before = swarm.noted(agent.name);
  const holder = holderOf(status, seat.memberId);
  const start = { agent, seat, problem: null, former: null };
  const own = before ? await launched(swarm.launchers, swarm.name, agent.name, before) : null;
  if (before && (own?.state === 'running' || own?.state === 'unknown')) {
    if (before.wish !== settingsHash(agent)) warnChanged(swarm, agent);
    return { ...start, action: 'running' };
  }
  // A start whose end nobody noted is asked for again: its launcher tells what came of it.
  const unsure = before !== null && before.handle === null && before.started_at !== null;
  if (!unsure && holder?.open && (await runsByHand(agent, seat, holder, before)))
    return { ...start, action: 'running' };
  const seats = allSeats(readCredentials(runtime().folders));
  const { launchers, name } = swarm;
  const starting = { swarm: name, agent, seat, seats, holder, before, launchers };
  const { action, started } = await startAgent(starting, (first) => swarm.note(agent.name, first));
  swarm.note(agent.name, started);
  return { ...start, action, former: action === 'started' ? (holder?.session ?? null) : null };
}

/**
 * Whether somebody else runs the agent. Its own last session may not be known to be over yet, which is waited for; where a
 * process outlives its terminal, that session says nothing.
 */
async function runsByHand(agent: Planned, seat: Seat, holder: Holder, before: StartedAgent | null): Promise<boolean> {
  if (before === null) return true;
  if (agent.profile.lifecycle.outlives_terminal && holder.session === before.session) return false;
  const closed = async () => !holderOf(await daemonView(), seat.memberId)?.open;
  return !(await until(closed, CLOSING_MS, EVERY_MS));
}

function warnChanged({ out }: Swarm, { name }: Planned): void {
  out.warn(
    'agent_changed',
    `${name} runs as service.yaml had it before.`,
    `service swarm down --only ${name} && service swarm up --only ${name}`,
  );
}
