/** Finds agent programs on this machine. */
import { runtime } from '../../../cli/runtime.ts';
import { findProgram } from '../../../harness/programs.ts';
import { recordedPrograms } from '../../../harness/setup/installed.ts';

/** The program by the name it has on PATH, else by the path it was found at when it was set up; null where it is nowhere. */
export function programOf(name: string): string | null {
  const { env, folders } = runtime();
  if (findProgram(name, env)) return name;
  return findProgram(name, env, recordedPrograms(folders.state)[name]);
}
