/** Finds and runs the programs of harnesses, with argument vectors and without a shell. */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { type Env, homeOf } from '../local/folders.ts';
import type { Profile } from './profile.ts';

/** The file of a program: a path, a name on PATH, or its recorded place at setup; null if there is none. */
export function findProgram(name: string, env: Env, recorded?: string): string | null {
  if (name.includes('/')) return runnable(name) ? resolve(name) : null;
  const places = (env.PATH ?? '').split(delimiter).filter((place) => isAbsolute(place));
  const found = places.map((place) => join(place, name)).find(runnable);
  return found ?? (recorded && runnable(recorded) ? recorded : null);
}

function runnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The folder of a program's settings; empty where none is known. */
export function configFolder({ config_dir: setting }: Pick<Profile, 'config_dir'>, env: Env): string {
  const folder = (setting && env[setting.env]) || setting?.default || '';
  return folder.replace(/^~(?=\/|$)/, () => homeOf(env));
}

/** Fills the placeholders of a command line. Braces in values are not expanded again. */
export function fillPlaceholders(argv: readonly string[], values: Record<string, string>): string[] {
  return argv.map((word) => word.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) => values[name] ?? whole));
}

export interface ProgramResult {
  /** Null if it was stopped or could not be started. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** It exceeded its time limit. */
  timedOut: boolean;
  /** Why there is no code. */
  problem: string | null;
}

const MAX_OUTPUT_LENGTH = 1024 * 1024;

export interface RunOptions {
  env: Env;
  cwd?: string;
  /** Milliseconds after which it is stopped. */
  ms: number;
  /** Its standard input; without, it has none. */
  input?: string;
  /** Whether it gets a process group of its own, which is stopped as a whole. */
  ownGroup?: boolean;
}

/** Time to read remaining output after the exit; a process that it left running may keep the output open. */
export const DRAIN_MS = 1_000;

/** Runs a program. Never throws: `code` is null if it could not be started. */
export function runProgram(file: string, args: string[], options: RunOptions): Promise<ProgramResult> {
  const { env, cwd, ms, input, ownGroup = false } = options;
  return new Promise((resolve) => {
    const printed = { stdout: '', stderr: '' };
    let timedOut = false;
    const child = spawn(file, args, {
      env: env as NodeJS.ProcessEnv,
      cwd,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: ownGroup,
    });
    const timer = setTimeout(() => {
      timedOut = true;
      stop(child, ownGroup);
    }, ms);
    let drained: NodeJS.Timeout | undefined;
    const finish = (code: number | null, problem: string | null) => {
      clearTimeout(timer);
      clearTimeout(drained);
      for (const name of outputs) child[name]!.destroy();
      resolve({ code, ...printed, timedOut, problem });
    };
    const ended = (code: number | null, signal: string | null) => finish(code, signal && `stopped by ${signal}`);
    for (const name of outputs)
      child[name]!.setEncoding('utf8').on('data', (part: string) => {
        if (printed[name].length < MAX_OUTPUT_LENGTH) printed[name] += part;
      });
    child.stdin?.on('error', () => {}).end(input);
    child.on('error', ({ message }) => finish(null, message));
    child.on('exit', (code, signal) => {
      drained = setTimeout(() => ended(code, signal), DRAIN_MS);
    });
    child.on('close', ended);
  });
}

const outputs = ['stdout', 'stderr'] as const;

function stop(child: ChildProcess, group: boolean): void {
  try {
    // By its handle, which knows that it ended: its number may be another program's by then.
    if (group) process.kill(-child.pid!, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
