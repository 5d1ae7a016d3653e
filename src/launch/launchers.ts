/** Launchers by name: two built-in ones, and external programs. */
import { join } from 'node:path';
import type { Env, Folders } from '../local/folders.ts';
import { externalLauncher } from './external.ts';
import { headlessLauncher } from './headless.ts';
import type { Launcher } from './protocol.ts';
import { tmuxLauncher } from './tmux.ts';

/** The folder with the state of this machine's swarms and the logs of background agents. */
export const swarmsFolder = ({ state }: Pick<Folders, 'state'>): string => join(state, 'swarms');

/** @throws Failure `launcher_failed` for a name that is neither built in nor a program on PATH */
export function launcherNamed(name: string, env: Env, folders: Pick<Folders, 'state'>): Launcher {
  if (name === 'tmux') return tmuxLauncher(env);
  if (name === 'headless') return headlessLauncher(swarmsFolder(folders), env);
  return externalLauncher(name, env);
}
