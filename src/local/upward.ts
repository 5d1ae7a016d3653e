/** Files that configure a folder and all below it: where they are searched, and which owners are trusted. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from './failure.ts';
import { homeOf } from './folders.ts';

export interface Found {
  path: string;
  /** Only its beginning, if it is longer than such a file can be. */
  bytes: Buffer;
  /** Whether this user wrote it, or root. */
  own: boolean;
}

/** The first file of a name from this folder upward, ending at the root of a repository, the home folder or the root. */
export function findUpward(name: string, maxBytes: number): Found | null {
  const home = homeFolder();
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const found = readFile(join(folder, name), maxBytes);
    if (found) return found;
    if (folder === home || dirname(folder) === folder || existsSync(join(folder, '.git'))) return null;
  }
}

/** The home folder as the system names the folder that a program runs in: without links and other detours. */
export function homeFolder(home = homeOf(process.env)): string {
  try {
    return realpathSync(home);
  } catch {
    return home;
  }
}

/** Null if no regular file of that name can be read: reading anything else might never end. */
function readFile(path: string, maxBytes: number): Found | null {
  let fd: number;
  let link: Stats;
  try {
    link = lstatSync(path);
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return null;
  }
  try {
    const file = fstatSync(fd);
    if (!file.isFile()) return null;
    const bytes = Buffer.alloc(Math.min(file.size, maxBytes));
    const read = readSync(fd, bytes, 0, bytes.length, 0);
    return { path, bytes: bytes.subarray(0, read), own: isOwn(link.uid) && isOwn(file.uid) };
  } finally {
    closeSync(fd);
  }
}

/** Like git's `safe.directory`: own files and root's are trusted; under sudo, also those of the calling user. */
function isOwn(uid: number): boolean {
  const own = process.getuid?.();
  if (own === undefined || uid === own || uid === 0) return true;
  return own === 0 && uid === Number(process.env.SUDO_UID ?? Number.NaN);
}

/** The error for a file with an untrusted owner. @param hint the command that accepts its content */
export const unsafe = (path: string, hint: string, accept?: string): Failure =>
  new Failure('project_unsafe', `${path} belongs to another user of this machine, so it is not obeyed.`, {
    hint,
    details: { path, ...(accept === undefined ? {} : { accept }) },
  });
