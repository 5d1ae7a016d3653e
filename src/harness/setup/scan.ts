/** Finds the harnesses on this machine and their versions, and which `service` the login shell runs. */
import { realpathSync } from 'node:fs';
import type { Env } from '../../local/folders.ts';
import { versionIn } from '../../local/versions.ts';
import type { Profile } from '../profile.ts';
import { findProgram, runProgram } from '../programs.ts';

const TIMEOUT_MS = 10_000;

export interface Found {
  /** The path of its program; null if it is not installed. */
  program: string | null;
  /** Null if unknown. */
  version: string | null;
}

/**
 * Finds a harness's program and runs it to get its version.
 * @param recorded path at the time of setup, used if PATH has none @param ms time limit
 */
export async function scan(profile: Profile, env: Env, recorded?: string, ms = TIMEOUT_MS): Promise<Found> {
  const [name, ...args] = profile.checks.installed.run;
  const program = findProgram(name!, env, recorded);
  if (!program) return { program: null, version: null };
  const { code, stdout } = await runProgram(program, args, { env, ms });
  return { program, version: code === 0 ? versionIn(stdout) : null };
}

/**
 * Checks whether the login shell runs another program as `service`.
 * @param own files of this program. @returns the other program's path; null if it is this one
 */
export async function otherService(env: Env, own: readonly string[], ms = TIMEOUT_MS): Promise<string | null> {
  const shell = env.SHELL?.startsWith('/') ? env.SHELL : '/bin/sh';
  const { stdout } = await runProgram(shell, ['-lc', 'command -v service'], { env, ms });
  const found = stdout.trim().split('\n').at(-1) ?? '';
  if (!found.startsWith('/')) return found || 'nothing';
  return own.some((path) => real(path) === real(found)) ? null : found;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
