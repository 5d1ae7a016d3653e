/** Checks what must exist before anything is started. */
import { findProgram } from '../harness/programs.ts';
import type { Failure } from '../local/failure.ts';
import { type Env, isFolder } from '../local/folders.ts';
import { launchFailure } from './protocol.ts';

/** @throws Failure `start_failed` if the folder does not exist */
export function requireFolder(dir: string): void {
  if (isFolder(dir)) return;
  throw launchFailure('start_failed', `There is no folder ${dir} to start it in.`, 'Change dir in service.yaml');
}

/** The file of the program. @throws Failure `start_failed` if it is not on PATH */
export function requireProgram([name = '']: readonly string[], env: Env): string {
  const file = findProgram(name, env);
  if (file) return file;
  throw launchFailure('start_failed', `There is no program ${name || 'named'} on PATH.`, 'Install it, or change PATH');
}

/** The error for a process that survived being killed. */
export const notStopped = (pid: number): Failure =>
  launchFailure('launcher_failed', `The process ${pid} did not end.`, `kill -9 ${pid}`);
