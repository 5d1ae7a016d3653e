/** Changing a file of somebody else: through links, with its mode, whole or not at all, and never over a change made meanwhile. */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../../local/folders.ts';

const TRIES = 3;

/** The text of a file; null where there is none. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/**
 * Writes what `change` makes of the text, again when the file was changed meanwhile; null leaves it alone.
 * @returns the folders that were made for it
 */
export function changeFile(path: string, change: (text: string | null) => string | null): string[] {
  for (let left = TRIES; ; left--) {
    const before = readText(path);
    const after = change(before);
    if (after === null || after === before) return [];
    const made = makeFolders(dirname(target(path)));
    if (put(target(path), after, before)) return made;
    if (left <= 1) throw new Error(`${path} is being changed by another program.`);
  }
}

/** Deletes a file, and the folders that were made for it and are empty now. */
export function removeFile(path: string, folders: readonly string[]): void {
  if (existsSync(path)) unlinkSync(target(path));
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // Somebody else has put something there.
    }
  }
}

/** The file that a path leads to, also where a link points to one that is not there yet. */
function target(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return isLink(path) ? resolve(dirname(path), readlinkSync(path)) : path;
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** The folders that were not there, outermost first. */
function makeFolders(folder: string): string[] {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = dirname(at)) missing.unshift(at);
  makeFolder(folder);
  return missing;
}

/** A whole new file in its place; false when the old one is no longer what it was. */
function put(path: string, text: string, before: string | null): boolean {
  const draft = join(dirname(path), `.service-${crypto.randomUUID()}.tmp`);
  const fd = openSync(draft, 'wx', 0o600);
  try {
    writeSync(fd, text);
    fchmodSync(fd, before === null ? 0o600 : statSync(path).mode & 0o777);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  if (readText(path) !== before) {
    unlinkSync(draft);
    return false;
  }
  renameSync(draft, path);
  return true;
}
