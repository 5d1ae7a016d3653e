/** `service swarm up`: creates the board and seats and starts the agents, where they are missing. */
import { dirname } from 'node:path';
import type { z } from 'zod';
import type { Output } from '../../../cli/output.ts';
import { askDaemon } from '../../../cli/session/ask-daemon.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { shellArgument } from '../../../contract/text.ts';
import type { Seat } from '../../../local/actors.ts';
import { usage } from '../../../local/failure.ts';
import { type AgentStart, ensureRunning } from './ensure-running.ts';
import type { SwarmFile } from './file.ts';
import { Launchers, linesOf, type Planned, planned, requireAll } from './plan.ts';
import { boardOf, seatsOf } from './seats.ts';
import type { up } from './shapes.ts';
import { allSwarms, swarmName } from './state.ts';
import { Swarm } from './swarm.ts';
import { seated } from './waiting.ts';

interface UpOptions {
  file: SwarmFile;
  /** Agents that are meant; none named: all. */
  only: readonly string[];
  /** Milliseconds to wait for all seats. */
  waitMs: number;
  out: Output;
  /** Asks whether these are to be started, in a folder where nothing ever was. */
  agree(question: string, facts: string[]): Promise<void>;
}

export type UpRecord = z.infer<typeof up>;

/** @throws Failure before anything is made, for what is wrong in the file or missing on this machine */
export async function bringUp(session: Session, { file, only, waitMs, out, agree }: UpOptions): Promise<UpRecord> {
  const { entry, server } = session;
  if (!entry)
    throw usage(
      'With SERVICE_TOKEN nothing is saved here, so the seats of a swarm would be lost.',
      `Sign in on this machine: service login ${server.url}`,
    );
  const launchers = new Launchers();
  const agents = chosen(await planned(file, launchers), only, file);
  requireAll(agents);
  if (!startedIn(dirname(file.path)))
    await agree(
      `Start ${agents.length === 1 ? 'it' : 'them'} on ${file.board} of ${server.url}?`,
      startsOf(file, agents),
    );
  out.base.board = file.board;
  const { board, created } = await boardOf(session, file.board);
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
  const swarm = new Swarm(base, launchers, out);
  const { added, starts } = await swarm.alone(async () => {
    const { seats, added: names } = await seatsOf(session, board, agents, out);
    return { added: names, starts: await startAll(swarm, agents, seats) };
  });
  const { agents: started, timed_out } = await seated(swarm, starts, waitMs);
  return { swarm: swarm.name, board_created: created, seats_added: added, agents: started, timed_out };
}

async function startAll(swarm: Swarm, agents: Planned[], seats: Map<string, Seat>): Promise<AgentStart[]> {
  const status = await askDaemon('status', {}, { start: true });
  const starts: AgentStart[] = [];
  for (const agent of agents) starts.push(await ensureRunning(swarm, agent, seats.get(agent.name)!, status));
  return starts;
}

const startedIn = (folder: string): boolean => allSwarms().some(({ file }) => dirname(file) === folder);

/** Each program with its words, and where it is run. */
const startsOf = ({ path }: SwarmFile, agents: Planned[]): string[] => [
  `For the first time, ${path} would start:`,
  ...agents.map((agent) => {
    const own = agent.mode === 'interactive' ? agent.args : [];
    const words = [...linesOf(agent), ...own].map((word) => shellArgument(word)).join(' ');
    return `  ${agent.name}: ${words} (${agent.launcher}, in ${agent.dir})`;
  }),
];

function chosen(agents: Planned[], only: readonly string[], { path }: SwarmFile): Planned[] {
  const stranger = only.find((name) => agents.every((agent) => agent.name !== name));
  if (stranger === undefined) return only.length === 0 ? agents : agents.filter(({ name }) => only.includes(name));
  throw usage(`${path} has no agent ${stranger}.`, `It has ${agents.map(({ name }) => name).join(', ')}`);
}
