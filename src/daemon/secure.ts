/** Creates and checks the daemon's folders, which must be accessible to this user only. */
import { mkdirSync } from 'node:fs';
import { makeFolder } from '../local/folders.ts';
import { checkFolder } from './control/address.ts';
import type { DaemonPaths } from './paths.ts';

/** Creates the state folder and the socket's folder if they are missing. @throws DaemonError `socket_unsafe` */
export function secureFolders({ state, socketFolder }: DaemonPaths): void {
  makeFolder(state);
  checkFolder(state);
  if (socketFolder === state) return;
  // Another user may have created it in /tmp, so an existing folder is checked.
  try {
    mkdirSync(socketFolder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  checkFolder(socketFolder);
}
