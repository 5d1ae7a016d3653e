import { z } from 'zod';
import { BaseCommand, optional } from '../../cli/base.ts';
import type { Output } from '../../cli/output.ts';
import { flag, object, problem, text } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { Failure, usage } from '../../local/failure.ts';
import { type Chosen, chooseSwarm, filedIn, fileFlag, onlyFlag, startedOf } from './lib/choose.ts';
import type { SwarmFile } from './lib/file.ts';
import { daemonView, holderOf, launched, lookAt, type Problem, requireNoProblem } from './lib/look.ts';
import { Launchers } from './lib/plan.ts';
import { by, state } from './lib/shapes.ts';
import {
  isUnsure,
  readSwarm,
  type StartedAgent,
  Swarm,
  type SwarmRecord,
  swarmCommand,
  unsureText,
} from './lib/state.ts';

export const json = () => {
  /** `stopped`: it ran, and was stopped now. */
  const agent = z.strictObject({ name: text, stopped: flag, state, by, problem: problem.nullable() });
  return object({ swarm: text.nullable(), agents: z.array(agent) });
};

export default class SwarmDown extends BaseCommand<typeof SwarmDown> {
  static override summary = 'Stop the agents that were started for a swarm';
  static override description =
    'Each through the launcher that started it, within ten seconds: those that were started from service.yaml, or all of a\nswarm that is named. Their seats and the board stay, and what somebody started by hand goes on; service swarm up starts\nthem again, in the conversations they had.';
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

/** @param only the agents that are meant; none named: all of the swarm or, where none was named, of the file */
async function takeDown({ file, record }: Chosen, only: readonly string[], out: Output): Promise<DownRecord> {
  if (!record) return { swarm: null, agents: [] };
  out.base.board = record.board;
  const launchers = new Launchers();
  const swarm = new Swarm({ ...record, agents: {} }, launchers, out);
  return swarm.alone(async () => {
    const now = readSwarm(swarm.name) ?? record;
    const noted = now.agents;
    const names = chosen({ file, record: now }, only, out);
    const filed = await filedIn(file, now);
    const then = await daemonView();
    const ends = await Promise.all(
      names.map(async (name) => {
        const before = noted[name]!;
        const { has, from } = filed(name, before);
        const gone = before.handle !== null && from === null ? launchers.lacks(before.launcher) : null;
        const why = isUnsure(before) ? unsureText(before) : gone;
        const end = why ? lost(now, name, from, why) : await stopOne(swarm, name, before);
        // A session that took its seat when `up` no longer waited for it, and may outlive its terminal.
        const holder = end.ran ? holderOf(then, before.member_id) : null;
        const session = before.session ?? (holder?.open ? holder.session : null);
        const started = end.problem ? before : { ...before, handle: null, attach: null, started_at: null, session };
        // Of one that its file no longer has, or that nobody can find again, nothing is left to be known.
        const keeps = why ? from !== null : end.problem !== null || has;
        if (keeps) swarm.note(name, started);
        else swarm.forget(name);
        return { ...end, started };
      }),
    );
    const status = await daemonView();
    const agents = [];
    for (const { name, ran, problem, started } of ends) {
      const holder = holderOf(status, started.member_id);
      // A session that was stopped just now may not be known to be over yet.
      const { state, by } = await lookAt({ launchers, swarm: swarm.name, name, started, holder: ran ? null : holder });
      agents.push({ name, stopped: ran && !problem, state, by, problem });
    }
    return { swarm: swarm.name, agents };
  });
}

function chosen(
  about: { file: SwarmFile | null; record: SwarmRecord },
  only: readonly string[],
  out: Output,
): string[] {
  const { name, agents } = about.record;
  const stranger = only.find((agent) => !agents[agent]);
  if (stranger !== undefined)
    throw usage(`Nothing was ever started for ${stranger} in ${name}.`, `service swarm ps ${name}`);
  if (only.length > 0) return [...only];
  const own = Object.keys(startedOf(about));
  const others = Object.entries(agents).filter(
    ([agent, started]) => (started.handle !== null || isUnsure(started)) && !own.includes(agent),
  );
  if (others.length > 0)
    out.warn(
      'agents_left_alone',
      `Left alone, as other files started them: ${others.map(([agent, { file }]) => `${agent} (${file})`).join(', ')}.`,
      `To stop all: service swarm down ${name}`,
    );
  return own;
}

interface End {
  name: string;
  ran: boolean;
  problem: Problem | null;
}

async function stopOne({ launchers, name: swarm }: Swarm, name: string, before: StartedAgent): Promise<End> {
  const { handle, launcher } = before;
  if (handle === null) return { name, ran: false, problem: null };
  const { state } = await launched(launchers, swarm, name, before);
  try {
    // Also what is left of one that ended by itself is taken away.
    await launchers.named(launcher).stop({ swarm, agent: name, handle });
    return { name, ran: state !== 'exited', problem: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, message, hint } = error;
    return { name, ran: true, problem: { code, message, hint } };
  }
}

/** Without a handle only its launcher can find it, which the next start asks. @param from the file for that */
function lost({ name: swarm, server, agents }: SwarmRecord, name: string, from: string | null, message: string): End {
  const { launcher, handle } = agents[name]!;
  const up = from && `${swarmCommand(`up --only ${name}`, from)} --server ${server.url}`;
  const hint = up
    ? `Ask ${launcher}: ${up}; then stop it: service swarm down ${swarm} --only ${name}`
    : `Stop it where ${launcher} runs it${handle === null ? '' : `, by its handle ${handle}`}; it is forgotten here`;
  return { name, ran: false, problem: { code: 'launcher_failed', message, hint } };
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
