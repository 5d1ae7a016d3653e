/** The launcher `headless`: a process of its own in the background, with no terminal, that writes into a log. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Env, makeFolder } from '../local/folders.ts';
import { parseJson } from '../local/json.ts';
import { readPrivate, writePrivate } from '../local/private-file.ts';
import { isGone, processRef } from '../local/process-ref.ts';
import { signalTo, waitOrKill } from './ending.ts';
import { withoutRemoved } from './environment.ts';
import { type Answers, type Launcher, launchFailure, type Place, parseHandle, type StartRequest } from './protocol.ts';
import { notStopped, requireFolder, requireProgram } from './requirements.ts';

const MAX_LOG_BYTES = 10 * 1024 * 1024;

const processes = z.object({ pid: z.int().positive(), start: z.string() });

/** @param folder with a folder of logs and process ids per swarm, created with mode 0700 */
export function headlessLauncher(folder: string, env: Env): Launcher {
  return {
    info: async () => ({ name: 'headless', modes: ['headless'] }),
    start: (request) => start(folder, env, request),
    status: async (place) => ({ state: isGone(parseHandle(processes, place)) ? 'exited' : 'running' }),
    stop,
  };
}

async function start(folder: string, env: Env, request: StartRequest): Promise<Answers['start']> {
  const { swarm, agent, argv, dir, mode } = request;
  if (mode !== 'headless')
    throw launchFailure('mode_unsupported', 'It needs a terminal, which this launcher has not.', 'Set launcher: tmux');
  requireFolder(dir);
  const programEnv = { ...withoutRemoved(env), ...request.env };
  const program = requireProgram(argv, programEnv);
  const own = join(folder, swarm);
  const [note, logFile] = [join(own, `${agent}.pid`), join(own, `${agent}.log`)];
  makeFolder(own);
  refuseSecond(note, logFile, agent);
  const log = openLog(logFile);
  const child = spawn(program, argv.slice(1), {
    cwd: dir,
    env: programEnv as NodeJS.ProcessEnv,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  await once(child, 'spawn').catch((error: Error) => {
    throw launchFailure('start_failed', `It could not be run: ${error.message}.`);
  });
  const ref = processRef(child.pid!);
  if (!ref) throw launchFailure('start_failed', 'It ended at once.', `tail ${logFile}`);
  writePrivate(note, JSON.stringify(ref));
  child.unref();
  return { handle: JSON.stringify(ref), attach: attachTo(logFile), pid: ref.pid };
}

/** The process id is stored here too, so that a start is not repeated if its answer was lost. */
function refuseSecond(note: string, logFile: string, agent: string): void {
  const before = processes.safeParse(parseJson(readPrivate(note) ?? '')).data;
  if (!before || isGone(before)) return;
  const found = { handle: JSON.stringify(before), attach: attachTo(logFile) };
  throw launchFailure('already_running', `${agent} runs already, as process ${before.pid}.`, found.attach, found);
}

const attachTo = (logFile: string): string => `tail -f '${logFile}'`;

/** Opens the log; a large one is renamed first. */
function openLog(path: string): number {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

async function stop(place: Place): Promise<Answers['stop']> {
  const ref = parseHandle(processes, place);
  signalTo(ref, 'SIGTERM');
  if (!(await waitOrKill(ref, true))) throw notStopped(ref.pid);
  return { state: 'exited' };
}
