/** `service swarm down`: stops what was started for a swarm. Seats, boards and sessions started by hand stay. */
import type { z } from 'zod';
import type { Output } from '../../../cli/output.ts';
import { Failure, usage } from '../../../local/failure.ts';
import type { Chosen } from './choose.ts';
import { daemonView, holderOf, lookAt } from './look.ts';
import { Launchers } from './plan.ts';
import type { Problem } from './records.ts';
import type { down } from './shapes.ts';
import { readSwarm, type StartedAgent, type SwarmRecord } from './state.ts';
import { Swarm } from './swarm.ts';

export type DownRecord = z.infer<typeof down>;

/** @param only the agents that are meant; none named: all */
export async function takeDown({ record }: Chosen, only: readonly string[], out: Output): Promise<DownRecord> {
  if (!record) return { swarm: null, agents: [] };
  out.base.board = record.board;
  const launchers = new Launchers();
  const swarm = new Swarm({ ...record, agents: {} }, launchers, out);
  return swarm.alone(async () => {
    const noted = (readSwarm(swarm.name) ?? record).agents;
    const names = chosen(noted, only, record);
    const ends = await Promise.all(names.map((name) => stopOne(swarm, name, noted[name]!)));
    // Written one after the other: they stand in one file.
    for (const { name, problem } of ends)
      if (!problem) swarm.note(name, { ...noted[name]!, handle: null, attach: null, started_at: null });
    const status = await daemonView();
    const agents = [];
    for (const { name, ran, problem } of ends) {
      const started = swarm.noted(name);
      const holder = holderOf(status, started?.member_id);
      // A session that was stopped just now may not be known to be over yet.
      const { state, by } = await lookAt({ launchers, swarm: swarm.name, name, started, holder: ran ? null : holder });
      agents.push({ name, stopped: ran && !problem, state, by, problem });
    }
    return { swarm: swarm.name, agents };
  });
}

function chosen(noted: SwarmRecord['agents'], only: readonly string[], { name }: SwarmRecord): string[] {
  const stranger = only.find((agent) => !noted[agent]);
  if (stranger === undefined) return only.length === 0 ? Object.keys(noted) : [...only];
  throw usage(`Nothing was ever started for ${stranger} in ${name}.`, `service swarm ps ${name}`);
}

async function stopOne(
  { launchers, name: swarm }: Swarm,
  name: string,
  started: StartedAgent,
): Promise<{ name: string; ran: boolean; problem: Problem | null }> {
  const { handle, launcher } = started;
  if (handle === null) return { name, ran: false, problem: null };
  try {
    const own = launchers.named(launcher);
    const { state } = await own.status({ swarm, agent: name, handle });
    // Also what is left of one that ended by itself is taken away.
    await own.stop({ swarm, agent: name, handle });
    return { name, ran: state !== 'exited', problem: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, message, hint } = error;
    return { name, ran: true, problem: { code, message, hint } };
  }
}
