/** The daemon as a process: what is checked before it starts, and what ends it. */

import type { Build } from '../local/build.ts';
import { readCredentials } from '../local/credentials.ts';
import type { Env, Folders } from '../local/folders.ts';
import { takeKernelLock } from '../local/kernel-lock.ts';
import { realClock } from './clock.ts';
import { requirePlatform } from './control/address.ts';
import { Daemon, type DaemonOptions } from './daemon.ts';
import { type Faults, noFaults } from './faults.ts';
import { SqliteJournal } from './journal/journal.ts';
import { openJournal } from './journal/open.ts';
import { openLog } from './log.ts';
import { daemonPaths } from './paths.ts';
import { secureFolders } from './secure.ts';

export interface RunOptions {
  folders: Folders;
  env: Env;
  build: Build;
  ports: DaemonOptions['ports'];
  verbs?: DaemonOptions['verbs'];
  faults?: Faults;
}

/**
 * Runs until it is told to stop, has had nothing to do for ten minutes, or finds that another daemon runs: then it leaves
 * everything alone. @returns the exit code. @throws Failure `unsupported_platform`, `socket_unsafe`,
 * `credentials_unsafe`, `data_newer`, `internal`
 */
export async function runDaemon({ folders, build, ports, verbs, faults = noFaults }: RunOptions): Promise<number> {
  requirePlatform();
  process.umask(0o077);
  const paths = daemonPaths(folders);
  secureFolders(paths);
  readCredentials(folders);
  const lock = takeKernelLock(paths.lock);
  if (!lock) return 0;
  const log = openLog(paths.log);
  const { db, putAside } = openJournal(paths.journal);
  if (putAside) log.write('journal_error', { put_aside: true }, 'error');
  const journal = new SqliteJournal(db);
  const daemon = await Daemon.start({ paths, clock: realClock, journal, log, faults, build, ports, verbs });
  const force = (): never => process.exit(1);
  const ask = (): void => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.removeListener(signal, ask).once(signal, force);
    void daemon.stop(false);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, ask);
  await daemon.stopped;
  lock.release();
  return 0;
}
