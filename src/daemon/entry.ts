/** Entry of `dist/daemon.cjs`, which contains the whole daemon in one file: checks before the start, the lock, signals, the exit code. */
import { fstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sleep } from '../client/time.ts';
import { createAdapters } from '../harness/adapters/index.ts';
import { loadProfiles } from '../harness/load.ts';
import { recordedPrograms } from '../harness/setup/installed.ts';
import { type Build, buildOf } from '../local/build.ts';
import { Failure } from '../local/failure.ts';
import { type Env, type Folders, folders as foldersOf } from '../local/folders.ts';
import { takeKernelLock } from '../local/kernel-lock.ts';
import { readCredentials } from '../local/keys/credentials.ts';
import { setProgram } from '../local/program.ts';
import { realClock } from './clock.ts';
import { requirePlatform, secureFolders } from './control/address.ts';
import { Daemon, type DaemonOptions } from './daemon.ts';
import { type Faults, noFaults } from './faults.ts';
import { Journal } from './journal/journal.ts';
import { openJournal } from './journal/open.ts';
import { mask, openLog } from './log.ts';
import { daemonPaths } from './paths.ts';
import { serverPorts } from './server-ports.ts';

/** Longer than other programs hold the lock to check whether it is free. */
const LOCK_RETRY_MS = 50;

interface RunOptions {
  folders: Folders;
  env: Env;
  build: Build;
  /** Calls back at each SIGTERM, SIGINT and SIGHUP. */
  onSignal(handler: (signal: string) => void): void;
  /** Only in a test build. */
  faults?: Faults | undefined;
}

interface EntryOptions extends Omit<RunOptions, 'build'> {
  /** The package's folder. */
  root: string;
  fromSources: boolean;
}

/** @returns the exit code. */
export async function run({ root, fromSources, ...options }: EntryOptions): Promise<number> {
  setProgram({ root, fromSources });
  return runDaemon({ ...options, build: buildOf(root) });
}

/**
 * Runs until it is stopped or has been idle for ten minutes; returns at once if another daemon runs. It is connected with
 * the servers that this machine knows and the programs that it has profiles for.
 * @returns the exit code. @throws Failure `unsupported_platform`, `socket_unsafe`,
 * `credentials_unsafe`, `data_newer`, `internal`
 */
export async function runDaemon({ folders, env, build, onSignal, faults = noFaults }: RunOptions): Promise<number> {
  const { all: profiles } = await loadProfiles(folders.config);
  const ports: DaemonOptions['ports'] = (deps) => ({
    ...serverPorts({ folders, env, version: build.version }, deps),
    adapters: createAdapters({ profiles, env, recorded: () => recordedPrograms(folders.state) }),
  });
  requirePlatform();
  process.umask(0o077);
  const paths = daemonPaths(folders);
  secureFolders(paths);
  readCredentials(folders);
  let lock = takeKernelLock(paths.lock);
  if (!lock) {
    await sleep(LOCK_RETRY_MS);
    lock = takeKernelLock(paths.lock);
  }
  if (!lock) return 0;
  const log = openLog(paths.log);
  const { db, movedTo } = openJournal(paths.journal);
  if (movedTo) log.write('journal_error', { put_aside: true }, 'error');
  const journal = new Journal(db);
  const daemon = await Daemon.start({ paths, clock: realClock, journal, log, faults, build, ports });
  process.setUncaughtExceptionCaptureCallback((error) => daemon.outlives(error) || process.exit(1));
  let stopRequested = false;
  onSignal((signal) => {
    // A closed terminal may be told twice, by the shell and by the system.
    if (stopRequested && signal === 'SIGHUP') return;
    if (stopRequested) process.exit(1);
    stopRequested = true;
    void daemon.stop(false);
  });
  await daemon.stopped;
  lock.release();
  return 0;
}

/** Runs `service daemon` as a spawned process: without the command line, which would only take memory. */
export async function start(entryUrl: string): Promise<void> {
  const program = fileURLToPath(entryUrl);
  const root = join(program, '..', '..');
  const env = process.env;
  const onSignal = (handler: (signal: string) => void): void => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, handler);
  };
  // The process that started this one may close its output.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const folders = foldersOf(env);
  try {
    process.exit(await run({ folders, env, root, fromSources: false, onSignal }));
  } catch (error) {
    const { code = 'internal', message, hint = '' } = error as Failure;
    const { log } = daemonPaths(folders);
    if (isErrorOutput(log)) {
      openLog(log).write('daemon_stopping', { code }, 'error');
      process.exit(1);
    }
    process.stderr.write(
      `${mask(error instanceof Failure ? [message, hint].filter(Boolean).join('\n') : String(error))}\n`,
    );
    process.exit(1);
  }
}

/** Whether standard error goes into this file, as it does when a client starts the daemon. */
function isErrorOutput(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  const output = fstatSync(process.stderr.fd);
  return file?.ino === output.ino && file.dev === output.dev;
}
