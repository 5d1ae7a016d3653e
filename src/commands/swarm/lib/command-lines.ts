/** Builds the command line of an agent: its program's own, then what the user added. */
import { runtime } from '../../../cli/runtime.ts';
import { quoted } from '../../../daemon/bundle/escape.ts';
import { configFolder, fillPlaceholders } from '../../../harness/programs.ts';
import type { Seat } from '../../../local/actors.ts';
import { programOf } from '../../run/lib/programs.ts';
import { isRunner, type Planned } from './plan.ts';

interface Start {
  seat: string;
  /** What the agent is told first. */
  prompt: string;
  /** The conversation that goes on; null for a new one. */
  session: string | null;
}

/** An argument vector; no shell reads it. */
export function argvOf(agent: Planned, start: Start): string[] {
  return agent.mode === 'headless' ? runnerArgv(agent, start.seat) : interactiveArgv(agent, start);
}

function interactiveArgv({ profile, model, args, dir }: Planned, { prompt, session }: Start): string[] {
  const { start, resume } = profile.interactive!;
  const lines = session !== null && resume ? resume : start;
  const words = [...lines, ...(model === undefined ? [] : (profile.headless?.model ?? [])), ...args];
  const own = words.length - args.length;
  const values = {
    prompt,
    session: session ?? '',
    dir,
    model: model ?? '',
    config_dir: configFolder(profile, runtime().env),
  };
  // What its person wrote is run as it was written.
  const [name = '', ...rest] = [...fillPlaceholders(words.slice(0, own), values), ...args];
  return [programOf(name) ?? name, ...rest];
}

/** The runner keeps the seat's connection and runs the program once for each bundle. */
function runnerArgv({ profile, model, args, reply }: Planned, seat: string): string[] {
  const run = [process.execPath, ...process.execArgv, runtime().calledBy, 'run', '--as', seat];
  const service = [...run, '--harness', profile.harness, ...(reply ? ['--reply'] : [])];
  if (isRunner(profile)) return [...service, '--', ...args];
  return [
    ...service,
    '--headless',
    ...(model === undefined ? [] : ['--model', model]),
    ...(args.length > 0 ? ['--', ...args] : []),
  ];
}

interface Told {
  seat: Seat;
  /** Of a program that may share one process with other sessions: it is told in the prompt, and nowhere else. */
  ticket: string | null;
}

/** What a new session is told first. A ticket that is told in the prompt stands in the first line. */
export function firstPrompt({ seat: { saved, origin }, ticket }: Told): string {
  const who = `You are ${quoted(saved.name)}${saved.role ? ` (role ${quoted(saved.role)})` : ''} on the board ${quoted(saved.board)} of ${origin}.`;
  return [
    ticket ? `${who} First take your seat: service status --launch ${ticket}` : who,
    'Read what the board is about with service board charter, and what was said with service read. Then end your turn and wait: what is meant for you comes into this session by itself.',
  ].join('\n');
}

/** What a session that goes on is told, so that it has a turn and is heard and woken after it. */
export const nextPrompt = ({ saved }: Seat): string =>
  `You are ${quoted(saved.name)} on the board ${quoted(saved.board)} again. See what came meanwhile with service inbox, then go on with your work or wait.`;
