/** Finds agent programs on this machine and the folders of their settings. */
import { runtime } from '../../../cli/runtime.ts';
import type { Profile } from '../../../harness/profile.ts';
import { findProgram } from '../../../harness/programs.ts';
import { recordedPrograms } from '../../../harness/setup/installed.ts';
import { homeOf } from '../../../local/folders.ts';

/** Where a program keeps its own settings. */
export function configFolder({ config_dir: own }: Profile): string {
  if (!own) return '';
  const home = homeOf(process.env);
  return runtime().env[own.env] || own.default.replace(/^~/, home);
}

/** The program by the name it has on PATH, else by the path it was found at when it was set up; null where it is nowhere. */
export function programOf(name: string): string | null {
  const { env, folders } = runtime();
  if (findProgram(name, env)) return name;
  return findProgram(name, env, recordedPrograms(folders.state)[name]);
}
