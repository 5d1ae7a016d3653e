/** Starts the daemon when it does not answer, but not so often that a broken one keeps the machine busy. */
import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../../client/time.ts';
import { type Env, envOf, makeFolder } from '../../local/folders.ts';
import { checkFolder } from './address.ts';
import { isAbsent, notRunning } from './errors.ts';

const START_TIMEOUT_MS = 5_000;
const CONNECT_INTERVAL_MS = 25;
/** Starts one client may make in this time. */
const START_LIMIT = { starts: 5, ms: 600_000 };

interface StartOptions {
  state: string;
  env: Env;
  /** The program that is spawned with `daemon`: runtime, its options, file. */
  program: string[];
  /** The program that starts it by itself, which is limited to a few starts. Null: a person asked, without a limit. */
  client: string | null;
  /** Told once the daemon that was started answers. */
  onStart?: () => void;
  /** Milliseconds since 1970, for the bound. */
  now?: () => number;
}

/** Where the daemon is, and how it is started. */
export interface DaemonAccess {
  state: string;
  env: Env;
  /** Null never starts it, as in a sandbox. */
  start: Pick<StartOptions, 'program' | 'client' | 'onStart'> | null;
}

/** Starts the daemon, then tries `connect` until it answers. After too many starts: `daemon_not_running`, as if it were absent. */
export async function startAndConnect<T>(options: StartOptions, connect: () => Promise<T>): Promise<T> {
  const { client } = options;
  if (client !== null && !mayStart({ ...options, client })) throw notRunning();
  spawnDaemon(options);
  const end = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    await sleep(CONNECT_INTERVAL_MS);
    try {
      const connected = await connect();
      options.onStart?.();
      return connected;
    } catch (error) {
      if (!isAbsent(error) || performance.now() > end) throw error;
    }
  }
}

/** The daemon as a process of its own, with no more of the environment than it needs. */
function spawnDaemon({ state, env, program }: StartOptions): void {
  makeFolder(state);
  checkFolder(state);
  const log = openSync(join(state, 'daemon.log'), 'a', 0o600);
  const [command, ...args] = program;
  // Loaded here, because hooks start without it sooner.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(command!, [...args, 'daemon'], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
    env: daemonEnv(env),
  });
  // Where the program is gone the wait for its socket says so.
  child.once('error', () => {});
  child.unref();
  closeSync(log);
}

const passedVariables =
  /^(HOME|PATH|LANG|LC_.*|TMPDIR|XDG_.*|SERVICE_HOME|SERVICE_(CONFIG|DATA|STATE|CACHE)_DIR|HTTPS_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS)$/;

/** What of an environment the daemon is given. */
export const daemonEnv = (env: Env): Record<string, string> => envOf(env, passedVariables);

/** Takes note of a start, unless this client has made too many. The note is only a bound: of two at once one may be lost. */
function mayStart({ state, client, now = Date.now }: StartOptions & { client: string }): boolean {
  const path = join(state, 'daemon-starts.json');
  const since = now() - START_LIMIT.ms;
  const starts = Object.entries(readStarts(path)).map(([name, times]) => [name, times.filter((at) => at > since)]);
  const recent: Record<string, number[]> = Object.fromEntries(starts.filter(([, times]) => times!.length > 0));
  const own = recent[client] ?? [];
  if (own.length >= START_LIMIT.starts) return false;
  makeFolder(state);
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, JSON.stringify({ ...recent, [client]: [...own, now()] }), { mode: 0o600 });
  renameSync(draft, path);
  return true;
}

function readStarts(path: string): Record<string, number[]> {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Record<string, number[]>;
    return Object.fromEntries(Object.entries(value).filter(([, times]) => Array.isArray(times)));
  } catch {
    return {};
  }
}
