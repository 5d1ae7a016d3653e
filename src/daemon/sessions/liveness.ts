/** Closes sessions whose process is gone: one scan of all of them, every few seconds and at the start. */
import { execFile } from 'node:child_process';
import { isGone } from '../../local/process-ref.ts';
import type { Adapters } from '../adapter.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

interface LivenessDeps {
  adapters: Adapters;
  sessions: Sessions;
}

export const SCAN_INTERVAL_MS = 5_000;

/** Closes open sessions whose process is gone; one that cannot be looked at counts as alive. */
export async function closeGoneSessions(
  deps: LivenessDeps,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  const watched = deps.sessions.open().filter((session) => isWatchedByProcess(deps, session));
  const gone =
    platform === 'darwin' ? await goneByPs(watched) : watched.filter((session) => isGone(processOf(session)));
  for (const session of gone) deps.sessions.close(session, 'process_gone');
}

/** Sessions of an extension live as long as its connection, but nothing outlives a process that is known to be gone. */
const isWatchedByProcess = ({ adapters }: LivenessDeps, { row, extension }: Session): boolean =>
  row.pid !== null && (adapters.of(row.harness).liveness === 'process' || extension === null);

const processOf = ({ row }: Session) => ({ pid: row.pid ?? 0, start: row.pid_start ?? '' });

/** One call for all, because each takes longer there than everything else the daemon does meanwhile. */
async function goneByPs(sessions: Session[]): Promise<Session[]> {
  if (sessions.length === 0) return [];
  const pids = sessions.map(({ row }) => row.pid);
  const text = await new Promise<string | null>((resolve) => {
    const env = { ...process.env, LC_ALL: 'C' };
    execFile('ps', ['-o', 'pid=,lstart=', '-p', pids.join(',')], { timeout: 2_000, env }, (error, stdout) => {
      // It fails where none of them runs.
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
