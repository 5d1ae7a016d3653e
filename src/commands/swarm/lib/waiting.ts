/** Waits until each agent's session holds its seat. A conversation that cannot continue is started anew. */
import { sleep } from '../../../client/time.ts';
import { endedWithKey, type Seat } from '../../../local/actors.ts';
import { type AgentStart, daemonThen, ensureRunning } from './ensure-running.ts';
import { daemonView, type Holder, holderOf, lookAt, type Problem, standing, type UpAgent } from './look.ts';
import { ANOTHER_NAME } from './seats.ts';
import type { Swarm } from './state.ts';

const EVERY_MS = 200;
/** A launcher may be a program, so it is asked less often. */
const LAUNCHER_EVERY_MS = 1_000;

interface Waiting extends AgentStart {
  /** It ended before its seat was taken. */
  over: boolean;
  askedAt: number;
}

/** @param ms to wait at most; 0 only looks */
export async function seated(
  swarm: Swarm,
  starts: readonly AgentStart[],
  ms: number,
): Promise<{ agents: UpAgent[]; timed_out: boolean }> {
  const all: Waiting[] = starts.map((one) => ({ ...one, over: false, askedAt: performance.now() }));
  const end = performance.now() + ms;
  let said = false;
  for (;;) {
    const status = await daemonView();
    const missing = all.filter((one) => !one.problem && !one.over && !takes(one, holderOf(status, one.seat.memberId)));
    const late = performance.now() >= end;
    if (missing.length === 0 || late) {
      await noteSessions(swarm, all);
      const agents = [];
      for (const one of all) agents.push(await recordOf(swarm, one));
      return { agents, timed_out: missing.length > 0 };
    }
    if (!said) swarm.out.note(waitingText(missing, ms / 1000));
    said = true;
    for (const one of missing) await lookAfter(swarm, one);
    await sleep(Math.min(EVERY_MS, Math.max(0, end - performance.now())));
  }
}

function waitingText(missing: readonly Waiting[], seconds: number): string {
  const names = missing.map(({ agent }) => agent.name).join(', ');
  return `Waiting up to ${seconds} s until ${names} ${missing.length === 1 ? 'has taken its seat' : 'have taken their seats'}…`;
}

const takes = ({ former }: AgentStart, holder: Holder | null): boolean =>
  holder?.open === true && holder.session !== former;

/** One that has ended before it took its seat is not waited for; a conversation that is gone is replaced by a new one. */
async function lookAfter(swarm: Swarm, one: Waiting): Promise<void> {
  if (performance.now() - one.askedAt < LAUNCHER_EVERY_MS) return;
  one.askedAt = performance.now();
  const { name } = one.agent;
  const noted = swarm.noted(name);
  const { state } = await lookAt({ launchers: swarm.launchers, swarm: swarm.name, name, started: noted, holder: null });
  if (state === 'running' || state === 'unknown') return;
  // Without a handle it was stopped meanwhile.
  if (one.action !== 'resumed' || !noted?.handle) {
    one.over = true;
    return;
  }
  const again = await swarm.alone(async () => {
    const now = swarm.noted(name);
    if (now?.handle !== noted.handle) return null;
    swarm.note(name, { ...now, lost_session: now.session, session: null });
    return ensureRunning(swarm, one.agent, one.seat, daemonThen(await daemonView()));
  });
  if (!again) return;
  if (again.action === 'started')
    swarm.out.note(`The conversation of ${name} could not be taken up again; it begins a new one.`);
  Object.assign(one, again);
}

/** Which sessions took the seats, so that they can be told from others later. */
async function noteSessions(swarm: Swarm, all: readonly Waiting[]): Promise<void> {
  const status = await daemonView();
  await swarm.alone(async () => {
    for (const one of all) {
      const holder = holderOf(status, one.seat.memberId);
      const noted = swarm.noted(one.agent.name);
      if (noted?.handle && takes(one, holder) && noted.session !== holder!.session)
        swarm.note(one.agent.name, { ...noted, session: holder!.session });
    }
  });
}

async function recordOf(swarm: Swarm, { agent, seat, action, problem, over, former }: Waiting): Promise<UpAgent> {
  const { name, profile, launcher, mode } = agent;
  const noted = swarm.noted(name);
  const holder = holderOf(await daemonView(), seat.memberId);
  const current = holder?.session === former ? null : holder;
  const look = await lookAt({ launchers: swarm.launchers, swarm: swarm.name, name, started: noted, holder: current });
  const ended = over ? endOf(swarm, name) : null;
  return {
    name,
    harness: profile.harness,
    launcher,
    mode,
    seat: seat.memberId,
    ...standing(look),
    attach: look.by === 'launcher' || over ? (noted?.attach ?? null) : null,
    action,
    problem: problem ?? ended ?? (current?.problem === 'unauthorized' ? refused(seat) : null),
  };
}

function endOf(swarm: Swarm, name: string): Problem {
  const code = 'start_failed';
  const { handle, started_at, attach } = swarm.noted(name) ?? {};
  if (!handle && !started_at)
    return { code, message: `${name} was stopped while its seat was waited for.`, hint: swarm.command('up') };
  const hint = attach ? `See what it said: ${attach}` : swarm.command('ps');
  return { code, message: `${name} ended before it took its seat.`, hint };
}

/** The server takes the token of its seat no more. */
const refused = (seat: Seat): Problem => ({
  code: 'unauthorized',
  message: endedWithKey(seat).message,
  hint: ANOTHER_NAME,
});
