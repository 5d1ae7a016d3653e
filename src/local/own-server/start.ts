/** Starts this machine's own server when a command needs it and it does not run. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellArgument } from '../../contract/text.ts';
import { Failure } from '../failure.ts';
import { type Env, envOf, type Folders, makeFolder } from '../folders.ts';
import { withLock } from '../lock.ts';
import { until } from '../process.ts';
import { isGone, processRef } from '../process-ref.ts';
import { olderThan } from '../versions.ts';
import { claimLocalAddress, originOf } from './address.ts';
import { findServer, isOurServer, type Place } from './find-running.ts';
import { isOnLoopback, ownAgent } from './own-agent.ts';
import { accepts, type FoundServer, runningServer } from './probe.ts';
import { type CurrentServer, currentServer } from './running.ts';

export interface LocalServer extends CurrentServer {
  /** True when this command started it. */
  started: boolean;
  /** The version that it replaced. */
  replaced: string | null;
}

interface StartOptions {
  folders: Folders;
  env: Env;
  /** `bin/run.js`: the program that is spawned with `serve`. */
  program: string;
  version: string;
}

const START_TIMEOUT_MS = 10_000;

/** The running server; starts or replaces it if necessary. Concurrent callers start only one. */
export async function ensureLocalServer(options: StartOptions): Promise<LocalServer> {
  const running = await upToDate(options);
  if (running) return running;
  const lock = join(options.folders.state, 'start.lock');
  // Longer than a start may take, so that a slow one is not started twice.
  return withLock(lock, async () => (await upToDate(options)) ?? start(options), 3 * START_TIMEOUT_MS);
}

/** The running server, which may be stopped; null if none runs. @throws Failure for a team's server */
export async function stoppableServer(place: Place): Promise<(FoundServer & { pid: number }) | null> {
  const told = runningServer(place.folders);
  const running = told && (await isOurServer(told, place)) ? told : await findServer(place);
  if (!running) return null;
  const { pid, url } = running;
  if (pid === null) throw hidden(url);
  if (!isOnLoopback(url)) throw ofTeam(pid, url);
  return { ...running, pid };
}

/** Stops the running server and waits for its exit; null if none was running. @throws Failure for a team's server */
export async function stopLocalServer(place: Place): Promise<FoundServer | null> {
  const running = await stoppableServer(place);
  if (!running) return null;
  const { pid } = running;
  const ref = processRef(pid) ?? { pid, start: '' };
  process.kill(pid, 'SIGTERM');
  if (await until(() => isGone(ref), START_TIMEOUT_MS + 2000)) return running;
  throw new Failure('server_unexpected', `The local server (pid ${pid}) did not stop.`, {
    hint: endLine(pid),
  });
}

/** Ends a server that hangs, which does what it is told no more. */
export const endLine = (pid: number): string => `kill -9 ${pid} && service server start`;

/** Stops the running server so that it can be started again. @throws Failure where it could not be */
export async function stopForRestart(place: Place): Promise<void> {
  if (!(await stoppableServer(place))) return;
  requireOwnStorage(place.folders.data, place.env);
  await stopLocalServer(place);
}

function hidden(url: string): Failure {
  return new Failure('server_unexpected', `The local server answers at ${url}, but its process cannot be told.`, {
    hint: `Find its number with lsof -t -iTCP:${new URL(url).port} -sTCP:LISTEN, then: kill <number>`,
  });
}

function ofTeam(pid: number, url: string): Failure {
  return new Failure('server_unexpected', `A team’s server, ${url}, runs on this data, so it was not stopped.`, {
    hint: `Stop it as it was started, or with: kill ${pid}`,
  });
}

async function upToDate(options: StartOptions): Promise<LocalServer | null> {
  const running = await currentServer(options.folders, options.env);
  if (!running?.answers) return null;
  // A team's server on this data folder is not ours to replace.
  if (isOnLoopback(running.url) && olderThan(running.version, options.version)) return null;
  return { ...running, started: false, replaced: null };
}

async function start(options: StartOptions): Promise<LocalServer> {
  requireOwnStorage(options.folders.data, options.env);
  const old = await stopLocalServer(options);
  const address = await claimLocalAddress(options.folders, options.env);
  const origin = originOf(address);
  if (address.source === 'chosen' && (await accepts(origin))) throw taken(origin);
  const server = await spawnServer(options);
  return { ...server, started: true, replaced: old?.version ?? null };
}

async function spawnServer({ folders, env, program }: StartOptions): Promise<CurrentServer> {
  makeFolder(folders.data);
  const log = join(folders.data, 'server.log');
  const before = existsSync(log) ? statSync(log).size : 0;
  const out = openSync(log, 'a', 0o600);
  const child = spawn(process.execPath, [...process.execArgv, program, 'serve'], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', out, out],
    env: envOf(env, passedVariables),
  });
  closeSync(out);
  child.unref();
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  const lines = () => readFileSync(log).subarray(before).toString('utf8').trimEnd().split('\n').slice(-5);
  // Its data is another process's already, which may have an old database to migrate first.
  const othersStart = () => lines().some((line) => line.includes('already_running'));
  let found: CurrentServer | null = null;
  await until(async () => {
    const told = runningServer(folders);
    const standing = told && (await ownAgent(folders).ask(told.url, 1000));
    if (standing?.is === 'ours') found = { ...told!, answers: true, serverId: standing.info.server_id };
    return found !== null || (ended && !othersStart());
  }, START_TIMEOUT_MS);
  if (found) return found;
  throw notRunning(log, lines(), ended && !othersStart());
}

function taken(origin: string): Failure {
  return new Failure('address_in_use', `Another program listens at ${origin}.`, {
    hint: `Free the port, or choose another: SERVICE_LOCAL_ADDR=127.0.0.1:${Number(new URL(origin).port) + 1}`,
  });
}

/** The failure, with the last lines of the log that this start wrote. */
function notRunning(log: string, lines: string[], ended: boolean): Failure {
  const details = { log, lines };
  if (ended)
    return new Failure('server_not_running', 'The local server did not start.', {
      hint: 'Run it in the foreground to see why: service serve',
      details,
    });
  const problem = `The local server is still starting: it has not answered within ${START_TIMEOUT_MS / 1000} seconds.`;
  return new Failure('server_not_running', problem, {
    hint: 'Try again soon; what it does: service server logs',
    details,
  });
}

const passedVariables =
  /^(HOME|PATH|LANG|LC_.*|TMPDIR|XDG_.*|SERVICE_HOME|SERVICE_LOCAL_ADDR|SERVICE_[A-Z]+_DIR|NODE_EXTRA_CA_CERTS|SYSTEMROOT|LOCALAPPDATA)$/;

/**
 * Refuses an automatic start that would create an empty database, or keep files, beside those in use, before a server
 * is stopped for it.
 */
function requireOwnStorage(data: string, { SERVICE_DB, SERVICE_FILES }: Env): void {
  if (SERVICE_DB) throw others('SERVICE_DB names its database', 'service serve');
  const db = elsewhere(data, 'storage');
  if (db !== null) throw others('its data is in another database', `service serve --db ${db}`);
  if (SERVICE_FILES && !isFolder(SERVICE_FILES, join(data, 'files')))
    throw others('SERVICE_FILES names another place for its files', 'service serve');
  const files = elsewhere(data, 'storage-files');
  if (files !== null) throw others('its files are in another place', `service serve --files ${shellArgument(files)}`);
}

const others = (why: string, hint: string): Failure =>
  new Failure('server_not_running', `The local server is not started by itself: ${why}.`, { hint });

/** What a start would have to be told: the external database without its password, the place of files; null: its own. */
function elsewhere(data: string, file: 'storage' | 'storage-files'): string | null {
  try {
    const noted = readFileSync(join(data, file), 'utf8').trim();
    return noted === '' || noted === 'embedded' ? null : noted;
  } catch {
    return null;
  }
}

/** Whether the address of a place for files names this folder. */
function isFolder(address: string, folder: string): boolean {
  try {
    return resolve(fileURLToPath(address.replace(/^disk:/, 'file:'))) === resolve(folder);
  } catch {
    return false;
  }
}
