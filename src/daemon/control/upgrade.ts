/** Replaces a daemon that is older than its client; only once, even if several clients try at the same time. */
import { type Build, olderBuild } from '../../local/build.ts';
import { isLockFree, type KernelLock, takeKernelLock } from '../../local/kernel-lock.ts';
import { until } from '../../local/process.ts';
import { isGone, type ProcessRef, processRef } from '../../local/process-ref.ts';
import { openLog } from '../log.ts';
import { type DaemonPaths, daemonPaths } from '../paths.ts';
import { socketPath } from './address.ts';
import { ask, daemonStatus } from './ask.ts';
import { openConnection } from './connection.ts';
import { type DaemonAccess, startAndConnect } from './start.ts';

const MAX_ATTEMPTS = 3;
const TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 6_000;

/** Replaces the running daemon if it is older than `own`; gives up after three attempts. */
export async function replaceDaemon(options: DaemonAccess, own: Build): Promise<void> {
  if (!options.start) return;
  const paths = daemonPaths(options);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const lock = await acquireLock(paths.upgradeLock);
    if (!lock) return;
    try {
      const old = await olderDaemon(options.state, own);
      if (!old) return;
      if (!(await stopDaemon(paths, old.process))) continue;
      await startNewDaemon(options, options.start);
      openLog(paths.log).write('upgrade_replaced', { from_version: old.version, version: own.version });
    } finally {
      lock.release();
    }
  }
}

/** Acquires the lock of upgrades; null if another client held it until the timeout. */
async function acquireLock(path: string): Promise<KernelLock | null> {
  const taken: { lock: KernelLock | null } = { lock: null };
  await until(() => {
    taken.lock = takeKernelLock(path);
    return taken.lock !== null;
  }, TIMEOUT_MS);
  return taken.lock;
}

/** The running daemon if it is older than `own`. */
async function olderDaemon(state: string, own: Build): Promise<{ process: ProcessRef; version: string } | null> {
  try {
    const { build, pid } = await daemonStatus(state);
    const process = olderBuild(build, own) ? processRef(pid) : null;
    return process && { process, version: build.version };
  } catch {
    return null;
  }
}

async function stopDaemon({ state, lock }: DaemonPaths, old: ProcessRef): Promise<boolean> {
  const end = performance.now() + TIMEOUT_MS;
  await requestStop(state);
  if (!(await until(() => isGone(old), STOP_TIMEOUT_MS))) terminate(old);
  return until(() => isLockFree(lock), Math.max(0, end - performance.now()));
}

/** Only if the process id still belongs to that process. */
function terminate(old: ProcessRef): void {
  if (processRef(old.pid)?.start !== old.start) return;
  try {
    process.kill(old.pid, 'SIGTERM');
  } catch {
    // It ended meanwhile.
  }
}

async function requestStop(state: string): Promise<void> {
  try {
    const connection = await openConnection(socketPath(state));
    await ask(connection, 'shutdown', { restart: true }).finally(() => connection.close());
  } catch {
    // It may have ended already; its lock decides.
  }
}

async function startNewDaemon({ state, env }: DaemonAccess, start: NonNullable<DaemonAccess['start']>): Promise<void> {
  const connection = await startAndConnect({ state, env, ...start }, () => openConnection(socketPath(state)));
  connection.close();
}
