/** Resolves `service.yaml` for this machine: how, where and by which launcher each agent runs. */
import { dirname, join, resolve } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import { loadProfiles } from '../../../harness/load.ts';
import type { Profile } from '../../../harness/profile.ts';
import { launcherNamed } from '../../../launch/launchers.ts';
import { type Launcher, type LaunchMode, launchFailure } from '../../../launch/protocol.ts';
import { requireFolder } from '../../../launch/requirements.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { homeOf } from '../../../local/folders.ts';
import { programOf } from '../../run/lib/programs.ts';
import { meant, type NewAgentOptions, type SwarmFile } from './file.ts';

export interface Planned {
  name: string;
  role: string | undefined;
  profile: Profile;
  mode: LaunchMode;
  launcher: string;
  model: string | undefined;
  args: string[];
  /** What it prints is posted as its answer. */
  reply: boolean;
  /** Absolute. */
  dir: string;
}

/** Launchers by name, each made once and asked once what it can do. */
export class Launchers {
  readonly #made = new Map<string, Launcher>();
  readonly #modes = new Map<string, Promise<readonly LaunchMode[]>>();

  /** @throws Failure `launcher_failed` where there is none of this name */
  named(name: string): Launcher {
    const { env, folders } = runtime();
    const made = this.#made.get(name) ?? launcherNamed(name, env, folders);
    this.#made.set(name, made);
    return made;
  }

  /** Why there is none of this name; null where there is one. */
  lacks(name: string): string | null {
    try {
      this.named(name);
      return null;
    } catch (error) {
      if (error instanceof Failure) return error.message;
      throw error;
    }
  }

  modesOf(name: string): Promise<readonly LaunchMode[]> {
    const asked =
      this.#modes.get(name) ??
      this.named(name)
        .info({})
        .then((info) => info.modes);
    this.#modes.set(name, asked);
    return asked;
  }
}

/** @throws Failure `invalid_request`, `mode_unsupported`, or what a launcher fails with; nothing has been done then */
export async function planned(file: SwarmFile, launchers: Launchers): Promise<Planned[]> {
  const { all } = await loadProfiles(runtime().folders.config);
  const agents: Planned[] = [];
  for (const [i, agent] of file.agents.entries()) agents.push(await one(file, i, agent, all, launchers));
  return agents;
}

async function one(
  file: SwarmFile,
  i: number,
  agent: NewAgentOptions,
  all: readonly Profile[],
  launchers: Launchers,
): Promise<Planned> {
  const wrong = (field: string, what: string, hint = 'service swarm up --help') =>
    usage(`${file.path}: agents[${i}].${field} ${what}.`, hint);
  const profile = all.find(({ harness }) => harness === agent.harness);
  if (!profile)
    throw wrong(
      'harness',
      `is no harness this machine knows: ${meant(
        agent.harness,
        all.map(({ harness }) => harness),
      ).replace(/\?$/, '')}`,
    );
  const { name, role, model, args = [], reply = false } = agent;
  if (isRunner(profile) && args.length === 0) throw wrong('args', 'is missing: the program to run, and its words');
  if (model !== undefined && !profile.headless?.model)
    throw wrong(
      'model',
      isRunner(profile) ? 'is for agent programs; put it into args' : `cannot be told to ${profile.name}`,
    );
  const ways = waysOf(profile);
  const launcher = agent.launcher ?? (ways.includes('interactive') ? 'tmux' : 'headless');
  const offered = await launchers.modesOf(launcher);
  const mode = ways.find((way) => offered.includes(way));
  if (!mode) throw unsupported(`${name}: the launcher ${launcher} cannot run ${profile.name}`, ways);
  if (reply && mode === 'interactive')
    throw wrong('reply', 'is for a program that runs without a terminal', 'Set launcher: headless');
  const words = isRunner(profile) ? ownProgram(file, args) : args;
  return { name, role, profile, mode, launcher, model, args: words, reply, dir: placeOf(file, agent.dir) };
}

export const isRunner = ({ identity }: Profile): boolean => identity.kind === 'runner';

/** How a program can be run; the best comes first. */
function waysOf(profile: Profile): LaunchMode[] {
  const headless = isRunner(profile) || (profile.headless?.via === 'native' && profile.headless.run !== undefined);
  return [...(profile.interactive ? (['interactive'] as const) : []), ...(headless ? (['headless'] as const) : [])];
}

function unsupported(what: string, ways: LaunchMode[]): Failure {
  const hint = ways.includes('interactive')
    ? 'It needs a terminal: set launcher: tmux'
    : ways.length > 0
      ? 'Set launcher: headless'
      : 'Start it by hand; its session joins with service join';
  return launchFailure('mode_unsupported', `${what}.`, hint);
}

/** A path from the folder of the file; `~` is the home folder. */
function placeOf({ path }: SwarmFile, place = '.'): string {
  const home = homeOf(process.env);
  if (place === '~' || place.startsWith('~/')) return join(home, place.slice(1));
  return resolve(dirname(path), place);
}

/** The words of a program that is named by its path, wherever it will be run. */
const ownProgram = (file: SwarmFile, [name = '', ...words]: string[]): string[] => [
  name.includes('/') ? placeOf(file, name) : name,
  ...words,
];

/** The words of the program itself, without what is put into them. */
export const linesOf = ({ profile, mode, args }: Pick<Planned, 'profile' | 'mode' | 'args'>): readonly string[] =>
  (mode === 'interactive' ? profile.interactive?.start : isRunner(profile) ? args : profile.headless?.run) ?? [];

/**
 * Before anything is made: the folder of each agent is there, and its program, on PATH or where it was found when it was
 * set up. @throws Failure `start_failed`
 */
export function requireAll(agents: readonly Planned[]): void {
  for (const agent of agents) {
    requireFolder(agent.dir);
    const [name = ''] = linesOf(agent);
    if (!programOf(name)) throw launchFailure('start_failed', ...missing(agent, name));
  }
}

function missing({ name: agent, profile }: Planned, program: string): [what: string, hint: string] {
  if (program.includes('/'))
    return [
      `${agent} cannot be started: ${program} is no file that may be run.`,
      `Make it executable with chmod +x, or change service.yaml`,
    ];
  return [
    `${agent} cannot be started: there is no program ${program} on PATH.`,
    `Install ${isRunner(profile) ? 'it' : profile.name}, or change service.yaml`,
  ];
}
