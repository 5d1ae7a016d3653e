/** Formats swarms. */
import { called } from '../../../cli/runtime.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { DownRecord } from './down.ts';
import type { PsRecord } from './ps.ts';
import type { AgentRecord, UpAgent } from './records.ts';
import type { ShowRecord } from './show.ts';
import type { SwarmRecord } from './state.ts';
import type { UpRecord } from './up.ts';

/** What was made and started, then how each agent stands. */
export async function upText(record: UpRecord, board: string): Promise<string> {
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
      ? called(
          'Not all seats were taken in that time. How they stand: service swarm ps. What may be missing: service doctor',
        )
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

/** `running idle`, `running (by hand)`, `exited` */
function stands({ state, by, turn, seated, blocked }: AgentRecord): string {
  const words = [state.replace('_', ' ')];
  if (by === 'hand') words.push('(by hand)');
  if (turn && turn !== 'unknown') words.push(turn);
  if (!seated && (state === 'running' || state === 'unknown')) words.push('without its seat');
  if (blocked) words.push(`- ${blocked}`);
  return words.join(' ');
}

export async function psText({ swarm, file, agents }: PsRecord, times: TimeStyle): Promise<string> {
  const rows = agents.map((agent) => [
    agent.name,
    agent.harness,
    agent.launcher,
    stands(agent),
    agent.started_at ? showTime(agent.started_at, times) : '',
    agent.attach ?? '',
  ]);
  const heads = ['NAME', 'PROGRAM', 'LAUNCHER', 'STATE', 'STARTED', 'LOOK AT IT'];
  return [`${swarm ?? file} · ${agents.length}`, ...(await table(heads, rows))].join('\n');
}

export async function downText({ swarm, agents }: DownRecord): Promise<string> {
  if (swarm === null) return 'Nothing of it was ever started here.';
  const stopped = agents.filter((agent) => agent.stopped).length;
  const rows = agents.map(({ name, stopped: now, state, by, problem }) => {
    const left = by === 'hand' ? 'runs by hand' : state === 'not_started' || state === 'exited' ? 'did not run' : state;
    return [name, problem ? `not stopped: ${problem.message}` : now ? 'stopped' : left];
  });
  return [`${swarm} · stopped ${stopped} of ${agents.length}`, ...(await table(['NAME', 'STATE'], rows))].join('\n');
}

export async function listText(swarms: readonly SwarmRecord[]): Promise<string> {
  if (swarms.length === 0) return called('No swarm was ever started here. Start one: service swarm up');
  const rows = swarms.map(({ name, server, agents, file }) => [
    name,
    server.url,
    Object.keys(agents).join(', ') || '-',
    file,
  ]);
  return (await table(['NAME', 'SERVER', 'AGENTS', 'FILE'], rows)).join('\n');
}

export async function showText({ swarm, file, board, at, agents }: ShowRecord): Promise<string> {
  const rows = agents.map(({ name, harness, role, launcher, mode, installed, seat, dir }) => [
    name,
    `${harness}${installed ? '' : ' (not installed)'}`,
    role ?? '',
    `${launcher}, ${mode}`,
    seat ? 'yes' : 'not yet',
    dir,
  ]);
  const heads = ['NAME', 'PROGRAM', 'ROLE', 'LAUNCHER', 'SEAT', 'FOLDER'];
  return [`${swarm ?? board}${at ? ` on ${at}` : ''} · ${agents.length} · ${file}`, ...(await table(heads, rows))].join(
    '\n',
  );
}
