/** External launchers: programs called `service-launcher-<name>` on PATH, run once per request. */
import { spawn } from 'node:child_process';
import { DRAIN_MS, findProgram } from '../harness/programs.ts';
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
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** @param ms after which the program is killed. @throws Failure `launcher_failed` where there is no such program */
export function externalLauncher(name: string, env: Env, ms = TIMEOUT_MS): Launcher {
  const program = `service-launcher-${name}`;
  const file = findProgram(program, env);
  if (!file) throw launcherFailure(name, 'info', `is not there: there is no program ${program} on PATH`);
  const ask = async <Name extends Op>(op: Name, request: Requests[Name]): Promise<Answers[Name]> => {
    const asked = JSON.stringify({ v: LAUNCHER_PROTOCOL, op, ...request });
    const { code, output, error, timedOut: late } = await run(file, asked, { env: withoutRemoved(env), ms });
    if (late) throw launcherFailure(name, op, `did not answer within ${ms / 1000} seconds`);
    if (code === null) throw launcherFailure(name, op, `could not be run: ${error}`);
    if (code !== 0) throw launcherFailure(name, op, `ended with exit ${code}${error ? `: ${error}` : ''}`);
    return readAnswer(op, name, output);
  };
  return {
    info: (request) => ask('info', request),
    start: (request) => ask('start', request),
    status: (request) => ask('status', request),
    stop: (request) => ask('stop', request),
  };
}

interface Outcome {
  /** Null where it was stopped or could not be started. */
  code: number | null;
  output: string;
  /** The last line of its standard error, or why it could not be started. */
  error: string;
  timedOut: boolean;
}

/** Runs it with one line on standard input, in its own process group, which is killed after the time limit. */
function run(file: string, input: string, { env, ms }: { env: Env; ms: number }): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(file, [], { env: env as NodeJS.ProcessEnv, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    const output = { stdout: '', stderr: '' };
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It ended meanwhile.
      }
    }, ms);
    let drained: NodeJS.Timeout | undefined;
    const finish = (code: number | null, error = lastLine(output.stderr)) => {
      clearTimeout(timer);
      clearTimeout(drained);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      resolve({ code, output: output.stdout, error, timedOut: timedOut });
    };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (part: string) => {
        if (output[name].length < MAX_OUTPUT_BYTES) output[name] += part;
      });
    child.stdin.on('error', () => {});
    child.stdin.end(`${input}\n`);
    child.on('error', (error) => finish(null, error.message));
    child.on('exit', (code, signal) => {
      drained = setTimeout(() => finish(code, signal ? `stopped by ${signal}` : undefined), DRAIN_MS);
    });
    child.on('close', (code, signal) => finish(code, signal ? `stopped by ${signal}` : undefined));
  });
}

const lastLine = (text: string): string =>
  (text.trim().split('\n').at(-1) ?? '').replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, 200);
