/** Which harnesses are on this machine, in which version, and which `service` its person would run. */
import { realpathSync } from 'node:fs';
import type { Env } from '../../local/folders.ts';
import { versionIn } from '../../local/versions.ts';
import type { Profile } from '../profile.ts';
import { findProgram, runProgram } from '../programs.ts';

const LONGEST_MS = 10_000;

export interface Found {
  /** The file of its program; null where it is not there. */
  program: string | null;
  /** Null where it does not say. */
  version: string | null;
}

/**
 * Looks for a harness, and asks it for its version.
 * @param recorded where it was when it was set up, which counts where PATH has none. @param ms how long it may take
 */
export async function scan(profile: Profile, env: Env, recorded?: string, ms = LONGEST_MS): Promise<Found> {
  const [name, ...args] = profile.checks.installed.run;
  const program = findProgram(name!, env, recorded);
  if (!program) return { program: null, version: null };
  const { code, stdout } = await runProgram(program, args, { env, ms });
  return { program, version: code === 0 ? versionIn(stdout) : null };
}

/**
 * What the login shell runs as `service`: an operating system may have another program of that name.
 * @param own files that are this program. @returns the other program's path, null where it is this one
 */
export async function otherService(env: Env, own: readonly string[], ms = LONGEST_MS): Promise<string | null> {
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
