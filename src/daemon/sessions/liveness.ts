/** Closes sessions whose process has ended; runs at the start and every few seconds. */
import { execFile } from 'node:child_process';
import { isGone, psEnv } from '../../local/process-ref.ts';
import type { Adapters } from '../adapter.ts';
import type { DaemonClock } from '../clock.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

interface LivenessDeps {
  clock: DaemonClock;
  adapters: Adapters;
  sessions: Sessions;
}

export const SCAN_INTERVAL_MS = 5_000;
/** How long an extension may be disconnected before its session is closed. */
const RECONNECT_GRACE_MS = 5_000;
/** The same after a start: a runner without a daemon asks again every five seconds. */
export const START_GRACE_MS = 15_000;

/** Closes a session whose extension does not connect again soon. */
export function closeUnlessReconnected(
  { clock, sessions }: LivenessDeps,
  session: Session,
  ms = RECONNECT_GRACE_MS,
): void {
  session.cancelGrace = clock.after(ms, () => sessions.close(session, 'connection_lost'));
}

/** After a start: nothing else would ever close a session that has only its connection, such as that of a runner. */
export function awaitReconnects(deps: LivenessDeps): void {
  for (const session of deps.sessions.open()) {
    const { pid, harness } = session.row;
    if (pid === null && deps.adapters.of(harness).liveness === 'connection')
      closeUnlessReconnected(deps, session, START_GRACE_MS);
  }
}

/** Closes open sessions whose process has ended; a process that cannot be inspected counts as alive. */
export async function closeGoneSessions(deps: LivenessDeps): Promise<void> {
  const watched = deps.sessions.open().filter((session) => isWatchedByProcess(deps, session));
  const gone =
    process.platform === 'darwin' ? await goneByPs(watched) : watched.filter((session) => isGone(processOf(session)));
  for (const session of gone) deps.sessions.close(session, 'process_gone');
}

/** Whether the process decides: not while an extension is connected whose connection does. */
const isWatchedByProcess = ({ adapters }: LivenessDeps, { row, extension }: Session): boolean =>
  row.pid !== null && (adapters.of(row.harness).liveness === 'process' || extension === null);

const processOf = ({ row }: Session) => ({ pid: row.pid ?? 0, start: row.pid_start ?? '' });

/** One call of `ps` for all sessions, because it is slow. */
async function goneByPs(sessions: Session[]): Promise<Session[]> {
  if (sessions.length === 0) return [];
  const pids = sessions.map(({ row }) => row.pid);
  const text = await new Promise<string | null>((resolve) => {
    execFile('ps', ['-o', 'pid=,lstart=', '-p', pids.join(',')], { timeout: 2_000, env: psEnv() }, (error, stdout) => {
      // `ps` exits with an error if no process is found.
      resolve(error && typeof error.code !== 'number' ? null : stdout);
    });
  });
  if (text === null) return [];
  const running = new Map(
    text.split('\n').flatMap((line) => {
      const found = /^\s*(\d+)\s+(.*\S)\s*$/.exec(line);
      return found ? [[Number(found[1]), found[2]!.replace(/\s+/g, ' ')]] : [];
    }),
  );
  return sessions.filter(({ row }) => running.get(row.pid!) !== row.pid_start);
}
