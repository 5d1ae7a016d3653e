/** Runs, starts, stops and queries the daemon. */
import { Exit } from '../../../cli/errors.ts';
import { runtime } from '../../../cli/runtime.ts';
import { daemonOptions } from '../../../cli/session/ask-daemon.ts';
import { refuseStartInSandbox } from '../../../cli/session/here.ts';
import { endWith } from '../../../cli/signals.ts';
import { askDaemon } from '../../../daemon/control/client.ts';
import { isAbsent } from '../../../daemon/control/errors.ts';
import { daemonPaths } from '../../../daemon/paths.ts';
import type { StatusAnswer } from '../../../daemon/protocol.ts';
import { Failure } from '../../../local/failure.ts';
import { until } from '../../../local/process.ts';
import { loadPacked, runsFromSources } from '../../../local/program.ts';

const STOP_MS = 10_000;

/** The daemon in this process, to its end. @throws Failure `daemon_in_sandbox` */
export async function runHere(): Promise<void> {
  refuseStartInSandbox();
  const { env, folders, root } = runtime();
  const fromSources = runsFromSources();
  const { run } = await loadPacked<typeof import('../../../daemon/entry.ts')>('daemon', 'daemon/entry');
  const code = await run({ env, folders, root, fromSources, onSignal: endWith }).catch((error: unknown) => {
    throw ownFailure(error);
  });
  if (code !== 0) throw new Exit(code);
}

/** A failure of the daemon's own file, where the class of the same name is another one, as one of this program. */
function ownFailure(error: unknown): unknown {
  const { name, code, message, hint = '' } = error as Partial<Failure>;
  const said = error instanceof Error && !(error instanceof Failure) && ['Failure', 'DaemonError'].includes(name ?? '');
  return said ? new Failure(String(code), String(message), { hint }) : error;
}

/** What the running daemon says of itself; null where none runs. */
export async function daemonStatus(): Promise<StatusAnswer | null> {
  try {
    return complete(await askDaemon(daemonOptions({ start: false }), 'status', {}));
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** What is empty or zero does not come over the socket, and is a fact all the same. */
function complete({ v: _, ...status }: StatusAnswer & { v?: number }): StatusAnswer {
  return {
    open_sessions: 0,
    servers: [],
    sessions: [],
    attention: [],
    stalled: [],
    truncated: [],
    agents: [],
    bindings: [],
    ...status,
  };
}

/** Starts it unless it runs. @throws Failure `daemon_in_sandbox` where it does not. */
export async function startDaemon(): Promise<{ pid: number; started: boolean }> {
  const before = await daemonStatus();
  if (!before) refuseStartInSandbox();
  const { pid } = await askDaemon(daemonOptions({ start: true, byPerson: true }), 'status', {});
  return { pid, started: before?.pid !== pid };
}

/** Stops it and waits for its end. @param restart whether sessions shall wait for another one. @returns whether one ran */
export async function stopDaemon(restart = false): Promise<boolean> {
  const { lock } = daemonPaths(runtime().folders);
  try {
    await askDaemon(daemonOptions({ start: false }), 'shutdown', { restart });
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
  const { isLockFree } = await import('../../../local/kernel-lock.ts');
  if (await until(() => isLockFree(lock), STOP_MS)) return true;
  throw new Failure('daemon_stopping', 'The delivery daemon did not stop within 10 seconds.', {
    hint: 'service daemon status',
  });
}
