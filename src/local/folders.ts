/** The folders of this program on this machine. */
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { usage } from './failure.ts';

export interface Folders {
  config: string;
  data: string;
  state: string;
  cache: string;
  /** SERVICE_HOME, if everything is in one folder. */
  home: string | null;
}

export type Env = Record<string, string | undefined>;

/** The variables of an environment whose names match. */
export const envOf = (env: Env, names: RegExp): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => names.test(pair[0]) && pair[1] !== undefined),
  );

const kinds = ['config', 'data', 'state', 'cache'] as const;

/** The four folders: from SERVICE_HOME, else SERVICE_<KIND>_DIR, else the platform's default. */
export function folders(env: Env = process.env, platform: NodeJS.Platform = process.platform): Folders {
  const home = env.SERVICE_HOME;
  if (home) {
    requireAbsolute('SERVICE_HOME', home);
    const [config, data, state, cache] = kinds.map((kind) => join(home, kind)) as [string, string, string, string];
    return { config, data, state, cache, home };
  }
  const place = (kind: (typeof kinds)[number]) => {
    const name = `SERVICE_${kind.toUpperCase()}_DIR`;
    const set = env[name];
    if (set) requireAbsolute(name, set);
    return set || defaultFolder(kind, env, platform);
  };
  return { config: place('config'), data: place('data'), state: place('state'), cache: place('cache'), home: null };
}

function requireAbsolute(name: string, path: string): void {
  if (!isAbsolute(path)) throw usage(`${name} must be an absolute path, but is "${path}".`);
}

/** Creates a folder (and its parents) that only this person can open. */
export function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  // One by one: a recursive mkdir reports ENOENT for a read-only disk, and on some network disks it tries for ever.
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Another program made the folder; for a file in its place this throws.
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
}

/** Whether there is such a folder; false where it cannot be looked at. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** What is in a folder; nothing where it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * The person's own folder; where HOME names none, the one of the account, never one in the folder that this runs in.
 *
 * @throws Failure where the user has no account, as in many containers
 */
export function homeOf({ HOME: named }: Env): string {
  if (named && isAbsolute(named)) return named;
  try {
    const known = homedir();
    return isAbsolute(known) ? known : userInfo().homedir;
  } catch {
    throw usage('This user has no home folder, as it has no account on this machine.', 'Set SERVICE_HOME, or HOME');
  }
}

function defaultFolder(kind: (typeof kinds)[number], env: Env, platform: NodeJS.Platform): string {
  const user = homeOf(env);
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(user, 'AppData', 'Local'), 'service', kind);
  const set = env[`XDG_${kind.toUpperCase()}_HOME`];
  if (set && isAbsolute(set)) return join(set, 'service');
  if (kind === 'cache' && platform === 'darwin') return join(user, 'Library', 'Caches', 'service');
  const usual = { config: '.config', data: '.local/share', state: '.local/state', cache: '.cache' } as const;
  return join(user, usual[kind], 'service');
}
