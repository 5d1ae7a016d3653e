/** The daemon's process: checks before the start, the lock, signals and the exit code. */
import { sleep } from '../client/time.ts';
import type { Build } from '../local/build.ts';
import type { Folders } from '../local/folders.ts';
import { takeKernelLock } from '../local/kernel-lock.ts';
import { readCredentials } from '../local/keys/credentials.ts';
import { realClock } from './clock.ts';
import { requirePlatform } from './control/address.ts';
import { Daemon, type DaemonOptions } from './daemon.ts';
import { type Faults, noFaults } from './faults.ts';
import { Journal } from './journal/journal.ts';
import { openJournal } from './journal/open.ts';
import { openLog } from './log.ts';
import { daemonPaths } from './paths.ts';
import { secureFolders } from './secure.ts';

/** Longer than other programs hold the lock to check whether it is free. */
const LOCK_RETRY_MS = 50;

interface RunOptions {
  folders: Folders;
  build: Build;
  ports: DaemonOptions['ports'];
  faults?: Faults;
  /** Calls back at each SIGTERM and SIGINT. */
  onSignal(handler: () => void): void;
}

/**
 * Runs until it is stopped or has been idle for ten minutes; returns at once if another daemon runs.
 * @returns the exit code. @throws Failure `unsupported_platform`, `socket_unsafe`,
 * `credentials_unsafe`, `data_newer`, `internal`
 */
export async function runDaemon({ folders, build, ports, onSignal, faults = noFaults }: RunOptions): Promise<number> {
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
  let stopRequested = false;
  onSignal(() => {
    if (stopRequested) process.exit(1);
    stopRequested = true;
    void daemon.stop(false);
  });
  await daemon.stopped;
  lock.release();
  return 0;
}
