import { z } from 'zod';
import { BaseCommand, optional } from '../../cli/base.ts';
import type { Output } from '../../cli/output.ts';
import { flag, object, problem, text } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { Failure, usage } from '../../local/failure.ts';
import { type Chosen, chooseSwarm, fileFlag, onlyFlag } from './lib/choose.ts';
import { daemonView, holderOf, lookAt, type Problem, requireNoProblem } from './lib/look.ts';
import { Launchers } from './lib/plan.ts';
import { by, state } from './lib/shapes.ts';
import { readSwarm, type StartedAgent, Swarm, type SwarmRecord } from './lib/state.ts';

export const json = () => {
  /** `stopped`: it ran, and was stopped now. */
  const agent = z.strictObject({ name: text, stopped: flag, state, by, problem: problem.nullable() });
  return object({ swarm: text.nullable(), agents: z.array(agent) });
};

export default class SwarmDown extends BaseCommand<typeof SwarmDown> {
  static override summary = 'Stop the agents that were started for a swarm';
  static override description =
    'Each through the launcher that started it, within ten seconds. Their seats and the board stay, and what somebody\nstarted by hand goes on; service swarm up starts them again, in the conversations they had.';
  static override examples = ['service swarm down', 'service swarm down --only triage', 'service swarm down payments'];
  static override seeAlso = ['swarm up', 'swarm ps', 'agent remove'];
  static override args = { swarm: optional('Name of the swarm, or of its board (default: that of service.yaml)') };
  static override flags = { ...fileFlag, ...onlyFlag };

  override async run(): Promise<void> {
    await this.requirePerson();
    const { file, only = [] } = this.flags;
    const chosen = await chooseSwarm(this.args.swarm ?? this.globals.board, file, this.globals.server);
    const record = await takeDown(chosen, only, this.out);
    requireNoProblem(record.agents);
    const text = await downText(record);
    this.print<typeof json>(record, () => text);
  }
}

type DownRecord = z.infer<ReturnType<typeof json>>;

/** @param only the agents that are meant; none named: all */
async function takeDown({ record }: Chosen, only: readonly string[], out: Output): Promise<DownRecord> {
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

async function downText({ swarm, agents }: DownRecord): Promise<string> {
  if (swarm === null) return 'Nothing of it was ever started here.';
  const stopped = agents.filter((agent) => agent.stopped).length;
  const rows = agents.map(({ name, stopped: now, state, by, problem }) => {
    const left = by === 'hand' ? 'runs by hand' : state === 'not_started' || state === 'exited' ? 'did not run' : state;
    return [name, problem ? `not stopped: ${problem.message}` : now ? 'stopped' : left];
  });
  return [`${swarm} · stopped ${stopped} of ${agents.length}`, ...(await table(['NAME', 'STATE'], rows))].join('\n');
}
