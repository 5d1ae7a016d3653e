/** Resolves which swarm a command is about: by name, by the file in use, or the only one. */
import { listFlag, stringFlag } from '../../../cli/flags.ts';
import { runtime } from '../../../cli/runtime.ts';
import { usage } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';
import { namedServer } from '../../../local/servers.ts';
import { isGone, readSwarmFile, type SwarmFile, sameFile } from './file.ts';
import { allSwarms, filesOf, type StartedAgent, type SwarmRecord } from './state.ts';

export const fileFlag = {
  file: stringFlag('PATH', 'The file (default: service.yaml in this folder or the first above it)', { char: 'F' }),
};

export const onlyFlag = {
  only: listFlag({ helpValue: 'AGENT', description: 'Only this agent; may be given several times' }),
};

export interface Chosen {
  /** Null where a swarm was named, or its file is gone. */
  file: SwarmFile | null;
  /** Null where nothing of it was ever started here. */
  record: SwarmRecord | null;
}

/** The server of a file's swarm. @param named of `--server` */
export const serverOf = (file: SwarmFile, named: string | undefined): string | undefined =>
  named || runtime().env.SERVICE_SERVER || file.server;

/**
 * @param named a swarm's name, or its board's where that is no other's
 * @param path of `--file`
 * @param server of `--server`
 */
export async function chooseSwarm(
  named: string | undefined,
  path: string | undefined,
  server: string | undefined,
): Promise<Chosen> {
  const all = allSwarms();
  if (named !== undefined) return { file: null, record: byName(named, all) };
  const file = await readSwarmFile(path).catch((error: unknown) => {
    if (path === undefined && all.length === 1) return null;
    throw error;
  });
  if (file === null) return { file, record: all[0]! };
  return { file, record: ofFile(file, serverOf(file, server), all) };
}

/**
 * What is noted of the agents that a command is about: by a name all, by a file those that were started from it. One whose
 * file is gone may have been started from this one before it was moved, and nothing else would stop it.
 */
export const startedOf = ({ file, record }: Chosen): Record<string, StartedAgent> =>
  Object.fromEntries(
    Object.entries(record?.agents ?? {}).filter(
      ([, started]) => file === null || sameFile(started.file, file.path) || isGone(started.file),
    ),
  );

/** What the files of a swarm say of an agent now. */
interface Filed {
  /** A file that cannot be read has all that were started from it. */
  has: boolean;
  /** The file from which `up` asks the agent's launcher for it again; null where it cannot. */
  from: string | null;
}

/** @param file the one that is in use, also for agents whose own is gone */
export async function filedIn(
  file: SwarmFile | null,
  record: SwarmRecord,
): Promise<(name: string, started: StartedAgent) => Filed> {
  const known = new Map<string, SwarmFile | null>();
  for (const path of filesOf(record))
    known.set(path, file?.path === path ? file : await readSwarmFile(path).catch(() => null));
  return (name, { file: first, launcher, no_handle }) => {
    const now = known.get(first) ?? (isGone(first) ? file : null);
    const agent = now?.agents.find((one) => one.name === name);
    const path = now?.path ?? first;
    const has = agent !== undefined || now === null;
    const asks = has && !no_handle && !isGone(path) && (agent?.launcher ?? launcher) === launcher;
    return { has, from: asks ? path : null };
  };
}

function byName(name: string, all: readonly SwarmRecord[]): SwarmRecord {
  const found = all.filter((swarm) => swarm.name === name);
  const near = found.length > 0 ? found : all.filter((swarm) => isAbout(swarm, name));
  if (near.length === 1) return near[0]!;
  const names = (near.length > 0 ? near : all).map((swarm) => swarm.name);
  throw usage(
    near.length > 0 ? `${name} is the board of several swarms.` : `There is no swarm ${name} on this machine.`,
    names.length > 0 ? `Name one: ${names.join(', ')}` : 'Start one: service swarm up',
  );
}

/** Those of its board; of several servers the one that is named, then the one that was started from this very file. */
function ofFile(file: SwarmFile, server: string | undefined, all: readonly SwarmRecord[]): SwarmRecord | null {
  const ofBoard = all.filter((swarm) => isAbout(swarm, file.board));
  const there = server === undefined ? ofBoard : ofBoard.filter((swarm) => isAt(swarm, server));
  const own =
    there.length > 1 ? there.filter((swarm) => filesOf(swarm).some((path) => sameFile(path, file.path))) : there;
  if (own.length < 2) return own[0] ?? null;
  throw usage(
    `${file.path} was started on several servers.`,
    `Name one of its swarms: ${own.map(({ name }) => name).join(', ')}`,
  );
}

/** @param board name or id. */
const isAbout = (swarm: SwarmRecord, board: string): boolean => swarm.board === board || swarm.board_id === board;

function isAt(swarm: SwarmRecord, named: string): boolean {
  const { env, folders } = runtime();
  const { entry, origin } = namedServer(named, readCredentials(folders), folders, env);
  return entry ? entry.server_id === swarm.server.server_id : origin === swarm.server.url;
}
