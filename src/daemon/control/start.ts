/** Starts the daemon if it does not run; limited, so that a broken daemon does not keep the machine busy. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../../client/time.ts';
import { type Env, envOf, folders, makeFolder } from '../../local/folders.ts';
import { credentialsPath } from '../../local/keys/credentials.ts';
import { checkPrivate, writePrivate } from '../../local/private-file.ts';
import { checkFolder } from './address.ts';
import { DaemonError, isAbsent, notRunning } from './errors.ts';

const START_TIMEOUT_MS = 5_000;
const CONNECT_INTERVAL_MS = 25;
/** How many starts one client may make within `ms`. */
const START_LIMIT = { starts: 5, ms: 600_000 };

interface StartOptions {
  state: string;
  env: Env;
  /** The command that is run with `daemon`: runtime, its options, file. */
  program: string[];
  /** Id of the client, whose starts are limited; null for a start requested by a person, without a limit. */
  client: string | null;
  /** Called once the started daemon answers. */
  onStart?: () => void;
  /** Milliseconds since the epoch, for the limit. */
  now?: () => number;
}

/** Where the daemon runs, and how to start it. */
export interface DaemonAccess {
  state: string;
  env: Env;
  /** Null never starts it, as in a sandbox. */
  start: Pick<StartOptions, 'program' | 'client' | 'onStart'> | null;
}

/** Starts the daemon, then calls `connect` until it answers. @throws Failure `daemon_not_running`, `credentials_unsafe` */
export async function startAndConnect<T>(options: StartOptions, connect: () => Promise<T>): Promise<T> {
  const { client, env } = options;
  // The daemon would end for this reason, and nobody would be told.
  checkPrivate(credentialsPath(folders(env)));
  const at = (options.now ?? Date.now)();
  if (client !== null && !mayStart(options.state, client, at)) throw notRunning();
  const daemon = spawnDaemon(options);
  const end = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    await sleep(CONNECT_INTERVAL_MS);
    try {
      const connected = await connect();
      if (client !== null) forgetIfNotNeeded(daemon, () => forgetStart(options.state, client, at));
      options.onStart?.();
      return connected;
    } catch (error) {
      if (!isAbsent(error)) throw error;
      // It exits with 0 where another daemon runs already.
      if (daemon.exitCode || daemon.signalCode || performance.now() > end) throw didNotStart();
    }
  }
}

const didNotStart = (): DaemonError =>
  new DaemonError('daemon_not_running', 'The delivery daemon was started, but does not answer.', {
    hint: 'service doctor; service daemon run says why',
  });

/** Spawns the daemon as a detached process with a reduced environment. */
function spawnDaemon({ state, env, program }: StartOptions): ChildProcess {
  makeFolder(state);
  checkFolder(state);
  const log = openSync(join(state, 'daemon.log'), 'a', 0o600);
  const [command, ...args] = program;
  // Loaded lazily, because hooks start faster without it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(command!, [...args, 'daemon'], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
    env: daemonEnv(env),
  });
  // If the program does not exist, it has an exit code, too.
  child.once('error', () => {});
  child.unref();
  closeSync(log);
  return child;
}

// The keychain with the person's key is reached by the session bus.
const passedVariables =
  /^(HOME|PATH|LANG|LC_.*|TMPDIR|XDG_.*|DBUS_SESSION_BUS_ADDRESS|SERVICE_HOME|SERVICE_(CONFIG|DATA|STATE|CACHE)_DIR|HTTPS_PROXY|https_proxy|NO_PROXY|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/;

/** The environment variables that the daemon gets. */
export const daemonEnv = (env: Env): Record<string, string> => envOf(env, passedVariables);

const startsPath = (state: string): string => join(state, 'daemon-starts.json');

/** Records a start, unless this client has made too many. Concurrent starts may lose a record, which is tolerated. */
function mayStart(state: string, client: string, now: number): boolean {
  const path = startsPath(state);
  const since = now - START_LIMIT.ms;
  const starts = Object.entries(readStarts(path)).map(([name, times]) => [
    name,
    times.filter((at) => at > since && at <= now),
  ]);
  const recent: Record<string, number[]> = Object.fromEntries(starts.filter(([, times]) => times!.length > 0));
  const own = recent[client] ?? [];
  if (own.length >= START_LIMIT.starts) return false;
  writePrivate(path, JSON.stringify({ ...recent, [client]: [...own, now] }));
  return true;
}

/** Another client's daemon was there first and answers; its start counts. One that answers nobody has all of them count. */
function forgetIfNotNeeded(daemon: ChildProcess, forget: () => void): void {
  if (daemon.exitCode === 0) forget();
  else daemon.once('exit', (code) => code === 0 && forget());
}

/** One that cannot be taken back stays counted. */
function forgetStart(state: string, client: string, start: number): void {
  const path = startsPath(state);
  const starts = readStarts(path);
  const own = starts[client] ?? [];
  if (!own.includes(start)) return;
  try {
    writePrivate(path, JSON.stringify({ ...starts, [client]: own.toSpliced(own.indexOf(start), 1) }));
  } catch {
    // Nobody waits for it.
  }
}

function readStarts(path: string): Record<string, number[]> {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Record<string, number[]>;
    return Object.fromEntries(Object.entries(value).filter(([, times]) => Array.isArray(times)));
  } catch {
    return {};
  }
}
