/** External launchers: programs called `service-launcher-<name>` on PATH, run once per request. */
import { findProgram, runProgram } from '../harness/programs.ts';
import type { Env } from '../local/folders.ts';
import { withoutRemoved } from './environment.ts';
import {
  type Answers,
  LAUNCHER_PROTOCOL,
  type Launcher,
  launcherFailure,
  type Op,
  type Requests,
  readAnswer,
} from './protocol.ts';

const TIMEOUT_MS = 60_000;

/** @param ms after which the program is killed. @throws Failure `launcher_failed` where there is no such program */
export function externalLauncher(name: string, env: Env, ms = TIMEOUT_MS): Launcher {
  const program = `service-launcher-${name}`;
  const file = findProgram(program, env);
  if (!file) throw launcherFailure(name, 'info', `is not there: there is no program ${program} on PATH`);
  const ask = async <Name extends Op>(op: Name, request: Requests[Name]): Promise<Answers[Name]> => {
    const asked = JSON.stringify({ v: LAUNCHER_PROTOCOL, op, ...request });
    const { code, stdout, stderr, timedOut, problem } = await runProgram(file, [], {
      env: withoutRemoved(env),
      ms,
      input: `${asked}\n`,
      ownGroup: true,
    });
    const error = problem ?? lastLine(stderr);
    if (timedOut) throw launcherFailure(name, op, `did not answer within ${ms / 1000} seconds`);
    if (code === null) throw launcherFailure(name, op, `could not be run: ${error}`);
    if (code !== 0) throw launcherFailure(name, op, `ended with exit ${code}${error ? `: ${error}` : ''}`);
    return readAnswer(op, name, stdout);
  };
  return {
    info: (request) => ask('info', request),
    start: (request) => ask('start', request),
    status: (request) => ask('status', request),
    stop: (request) => ask('stop', request),
  };
}

/** The last line of what a launcher printed on standard error. */
const lastLine = (text: string): string =>
  (text.trim().split('\n').at(-1) ?? '').replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, 200);
