/** The path of the control socket, and checks that only this user can access socket and folder. */
import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../local/folders.ts';
import { type DaemonPaths, daemonPaths } from '../paths.ts';
import { DaemonError } from './errors.ts';

/** The socket of a state folder. */
export const socketPath = (state: string): string => daemonPaths({ state }).socket;

/** @throws DaemonError `unsupported_platform` on systems without Unix sockets */
export function requirePlatform(platform: NodeJS.Platform = process.platform): void {
  if (platform === 'linux' || platform === 'darwin') return;
  throw new DaemonError('unsupported_platform', `The delivery daemon does not run on ${platform}.`, {
    hint: 'Read messages with: service inbox --wait 600',
  });
}

/** Refuses a folder that other users can access; false if it does not exist. @throws DaemonError `socket_unsafe` */
export function checkFolder(folder: string): boolean {
  const stat = statOf(folder);
  if (!stat) return false;
  if (stat.isSymbolicLink()) throw unsafe(folder, 'is a link');
  if (!stat.isDirectory()) throw unsafe(folder, 'is no folder');
  checkOwner(folder, stat);
  if (stat.mode & 0o077) throw unsafe(folder, 'is open to others', `chmod 700 '${folder}'`);
  return true;
}

/** Refuses a socket that other users can access; false if it does not exist. @throws DaemonError `socket_unsafe` */
export function checkSocket(path: string): boolean {
  if (!checkFolder(dirname(path))) return false;
  const stat = statOf(path);
  if (!stat) return false;
  if (stat.isSymbolicLink()) throw unsafe(path, 'is a link');
  if (!stat.isSocket()) throw unsafe(path, 'is no socket');
  checkOwner(path, stat);
  if ((stat.mode & 0o777) !== 0o600) throw unsafe(path, 'does not have mode 0600', `chmod 600 '${path}'`);
  return true;
}

function checkOwner(path: string, stat: Stats): void {
  if (!process.getuid || stat.uid === process.getuid()) return;
  throw unsafe(path, "is another user's", stat.isDirectory() ? `ls -ld '${path}'` : undefined);
}

function statOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw unsafe(path, 'cannot be looked at');
  }
}

function unsafe(path: string, reason: string, fix = `rm -r '${path}'  # after looking at it`): DaemonError {
  return new DaemonError('socket_unsafe', `${path} ${reason}, so the daemon is not talked to there.`, { hint: fix });
}

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
