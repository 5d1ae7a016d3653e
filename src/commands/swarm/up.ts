import * as Flags from '@oclif/core/flags';
import { z } from 'zod';
import { BaseCommand, confirmFlags, waitFlags } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import { called } from '../../cli/runtime.ts';
import { askDaemon } from '../../cli/session/ask-daemon.ts';
import type { Session } from '../../cli/session/open-session.ts';
import { flag, object, text } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import type { Seat } from '../../local/actors.ts';
import { usage } from '../../local/failure.ts';
import { fileFlag, onlyFlag, serverOf } from './lib/choose.ts';
import { startedBefore, startsOf } from './lib/consent.ts';
import { type AgentStart, daemonThen, ensureRunning, warnTakenOut } from './lib/ensure-running.ts';
import { readSwarmFile, type SwarmFile } from './lib/file.ts';
import { requireNoProblem, stands, type UpAgent } from './lib/look.ts';
import { Launchers, type Planned, planned, requireAll } from './lib/plan.ts';
import { boardOf, seatsOf } from './lib/seats.ts';
import { upAgent } from './lib/shapes.ts';
import { Swarm, swarmCommand, swarmName } from './lib/state.ts';
import { seated } from './lib/waiting.ts';

export const json = () =>
  object({ swarm: text, board_created: flag, seats_added: z.array(text), agents: z.array(upAgent), timed_out: flag });

export default class SwarmUp extends BaseCommand<typeof SwarmUp> {
  static override loops = true;
  static override summary = 'Start the agents of service.yaml on their board';
  static override description =
    'Makes the board and a seat for each agent where they are missing, starts every agent that does not run, and waits until\nall have taken their seats. What runs is left alone, so it can be run again at any time. In a folder\nwhere nothing was ever started it shows what it would start, and asks. The file:\n\n  board: payments\n  agents:\n    - name: claude\n      harness: claude-code\n      role: member\n    - name: triage\n      harness: command\n      args: [./answer.sh]\n      reply: true\n\nA program that is named by a path is looked for from the folder of the file. An agent may also have a model, args for its\nprogram, a dir, and a launcher: tmux (where a program needs a terminal), headless (in the background, once for each bundle\nof messages), or NAME for a program service-launcher-NAME. With reply: true, which needs no terminal, what the program\nprints is posted as its answer.';
  static override examples = [
    'service swarm up',
    'service swarm up --file team/service.yaml --only triage --wait 10',
    'service swarm up --json --fail-timeout',
  ];
  static override seeAlso = ['swarm ps', 'swarm down', 'run', 'init'];
  static override flags = {
    ...fileFlag,
    ...onlyFlag,
    wait: Flags.integer({
      char: 'w',
      min: 0,
      max: 86_400,
      default: 120,
      helpValue: 'SECONDS',
      description: 'Wait at most so long for all seats (default 120)',
    }),
    ...waitFlags,
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    await this.requirePerson();
    const { file: path, 'fail-timeout': fails } = this.flags;
    const file = await readSwarmFile(path);
    const { board = file.board } = this.globals;
    if (board !== file.board)
      throw usage(`${file.path} is about the board ${file.board}.`, 'Leave --board out, or change the file');
    this.globals.server = serverOf(file, this.globals.server);
    const record = await this.bringUp(await this.session('P'), file);
    const text = await upText(record, this.out.base.board ?? file.board, swarmCommand('ps', path));
    requireNoProblem(record.agents);
    this.print<typeof json>(record, () => text);
    if (record.timed_out && fails) throw new Exit(EXIT.checkFailed);
  }

  /** @throws Failure before anything is made, for what is wrong in the file or missing on this machine */
  private async bringUp(session: Session, file: SwarmFile): Promise<UpRecord> {
    const { entry, server } = session;
    const { out, flags } = this;
    if (!entry)
      throw usage(
        'With SERVICE_TOKEN nothing is saved here, so the seats of a swarm would be lost.',
        `Sign in on this machine: service login ${server.url}`,
      );
    const launchers = new Launchers();
    const agents = chosen(await planned(file, launchers), flags.only ?? [], file);
    requireAll(agents);
    const question = `Start ${agents.length === 1 ? 'it' : 'them'} on ${file.board} of ${server.url}?`;
    if (!startedBefore(file)) await this.confirm(question, flags.yes, startsOf(file, agents));
    out.base.board = file.board;
    const { board, created } = await boardOf(session, file.board, agents);
    out.base.board = board.name;
    const { server_id } = entry;
    const base = {
      v: 1 as const,
      name: swarmName(board.name, server_id),
      board: board.name,
      board_id: board.id,
      server: { name: server.name, url: server.url, server_id },
      file: file.path,
      agents: {},
    };
    const swarm = new Swarm(base, launchers, out, flags.file);
    const { added, starts } = await swarm.alone(async () => {
      const { seats, added: names } = await seatsOf(session, board, agents, out);
      const begun = await startAll(swarm, agents, seats);
      if (!flags.only) await warnTakenOut(swarm, file);
      return { added: names, starts: begun };
    });
    const { agents: started, timed_out } = await seated(swarm, starts, flags.wait * 1000);
    return { swarm: swarm.name, board_created: created, seats_added: added, agents: started, timed_out };
  }
}

type UpRecord = z.infer<ReturnType<typeof json>>;

async function startAll(swarm: Swarm, agents: Planned[], seats: Map<string, Seat>): Promise<AgentStart[]> {
  const daemon = daemonThen(await askDaemon('status', {}, { start: true }));
  const starts: AgentStart[] = [];
  for (const agent of agents) starts.push(await ensureRunning(swarm, agent, seats.get(agent.name)!, daemon));
  return starts;
}

function chosen(agents: Planned[], only: readonly string[], { path }: SwarmFile): Planned[] {
  const stranger = only.find((name) => agents.every((agent) => agent.name !== name));
  if (stranger === undefined) return only.length === 0 ? agents : agents.filter(({ name }) => only.includes(name));
  throw usage(`${path} has no agent ${stranger}.`, `It has ${agents.map(({ name }) => name).join(', ')}`);
}

/** What was made and started, then how each agent stands. */
async function upText(record: UpRecord, board: string, ps: string): Promise<string> {
  const { swarm, board_created: created, seats_added: added, agents, timed_out: late } = record;
  const taken = agents.filter(({ seated }) => seated).length;
  return [
    created ? `Created board ${board}.` : '',
    added.length > 0 ? `Made ${added.length === 1 ? 'a seat' : 'seats'} for ${added.join(', ')}.` : '',
    `${swarm} · ${taken} of ${agents.length} ${agents.length === 1 ? 'agent has' : 'agents have'} taken ${agents.length === 1 ? 'its seat' : 'their seats'}`,
    ...(await table(
      ['NAME', 'DONE', 'STATE', 'LOOK AT IT'],
      agents.map((agent) => [agent.name, did[agent.action], stands(agent), agent.attach ?? '']),
    )),
    late
      ? called(`Not all seats were taken in that time. How they stand: ${ps}. What may be missing: service doctor`)
      : '',
  ]
    .filter(Boolean)
    .join('\n');
}

const did: Record<UpAgent['action'], string> = {
  started: 'started',
  resumed: 'taken up again',
  running: 'ran already',
  failed: 'not started',
};
