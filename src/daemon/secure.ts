/** Creates and checks the daemon's folders: it starts only if they belong to this user alone. */
import { mkdirSync } from 'node:fs';
import { makeFolder } from '../local/folders.ts';
import { checkFolder } from './control/address.ts';
import type { DaemonPaths } from './paths.ts';

/** Makes the state folder and the socket's folder where they are missing. @throws DaemonError `socket_unsafe` */
export function secureFolders({ state, socketFolder }: DaemonPaths): void {
  makeFolder(state);
  checkFolder(state);
  if (socketFolder === state) return;
  // Another user may have made it in /tmp first, so what is there is checked.
  try {
    mkdirSync(socketFolder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  checkFolder(socketFolder);
}
