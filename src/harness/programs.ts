/** Finds and runs the programs of harnesses, with argument vectors and without a shell. */
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Env } from '../local/folders.ts';

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
}

const MAX_OUTPUT_LENGTH = 64 * 1024;

export interface RunOptions {
  env: Env;
  cwd?: string;
  /** Milliseconds after which it is stopped. */
  ms: number;
}

/** Time to read remaining output after the exit; a process that it left running may keep the output open. */
export const DRAIN_MS = 1_000;

/** Runs a program without standard input. Never throws: `code` is null if it could not be started. */
export function runProgram(file: string, args: string[], { env, cwd, ms }: RunOptions): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const printed = { stdout: '', stderr: '' };
    let timedOut = false;
    const child = spawn(file, args, { env: env as NodeJS.ProcessEnv, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, ms);
    let drained: NodeJS.Timeout | undefined;
    const finish = (code: number | null) => {
      clearTimeout(timer);
      clearTimeout(drained);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      resolve({ code, ...printed, timedOut });
    };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (part: Buffer) => {
        if (printed[name].length < MAX_OUTPUT_LENGTH) printed[name] += part.toString('utf8');
      });
    child.on('error', () => finish(null));
    child.on('exit', (code) => {
      drained = setTimeout(() => finish(code), DRAIN_MS);
    });
    child.on('close', finish);
  });
}
