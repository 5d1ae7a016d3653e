/** External launchers: programs called `service-launcher-<name>` on PATH, run once per request. */
import { spawn } from 'node:child_process';
import { findProgram } from '../harness/programs.ts';
import type { Env } from '../local/folders.ts';
import { cleaned } from './environment.ts';
import {
  type Answers,
  broken,
  LAUNCHER_PROTOCOL,
  type Launcher,
  type Op,
  type Requests,
  readAnswer,
} from './protocol.ts';

/** Milliseconds after which it is killed. */
const LAUNCHER_MS = 60_000;
const MOST_BYTES = 1024 * 1024;
/** A process that it started may have kept its output open. */
const DRAIN_MS = 1_000;

/** @param ms after which the program is killed. @throws Failure `launcher_failed` where there is no such program */
export function externalLauncher(name: string, env: Env, ms = LAUNCHER_MS): Launcher {
  const program = `service-launcher-${name}`;
  const file = findProgram(program, env);
  if (!file) throw broken(name, 'info', `is not there: there is no program ${program} on PATH`);
  const ask = async <Name extends Op>(op: Name, request: Requests[Name]): Promise<Answers[Name]> => {
    const asked = JSON.stringify({ v: LAUNCHER_PROTOCOL, op, ...request });
    const { code, output, error, late } = await run(file, asked, { env: cleaned(env), ms });
    if (late) throw broken(name, op, `did not answer within ${ms / 1000} seconds`);
    if (code === null) throw broken(name, op, `could not be run: ${error}`);
    if (code !== 0) throw broken(name, op, `ended with exit ${code}${error ? `: ${error}` : ''}`);
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
  late: boolean;
}

/** Runs it with one line on standard input, in its own process group, which is killed after the time limit. */
function run(file: string, input: string, { env, ms }: { env: Env; ms: number }): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(file, [], { env: env as NodeJS.ProcessEnv, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    const said = { stdout: '', stderr: '' };
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It ended meanwhile.
      }
    }, ms);
    let drained: NodeJS.Timeout | undefined;
    const settle = (code: number | null, error = lastLine(said.stderr)) => {
      clearTimeout(timer);
      clearTimeout(drained);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      resolve({ code, output: said.stdout, error, late });
    };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (part: string) => {
        if (said[name].length < MOST_BYTES) said[name] += part;
      });
    child.stdin.on('error', () => {});
    child.stdin.end(`${input}\n`);
    child.on('error', (error) => settle(null, error.message));
    child.on('exit', (code, signal) => {
      drained = setTimeout(() => settle(code, signal ? `stopped by ${signal}` : undefined), DRAIN_MS);
    });
    child.on('close', (code, signal) => settle(code, signal ? `stopped by ${signal}` : undefined));
  });
}

const lastLine = (text: string): string =>
  (text.trim().split('\n').at(-1) ?? '').replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, 200);
