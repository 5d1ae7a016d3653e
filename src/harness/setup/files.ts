/** Changes files of other programs: follows links, keeps the mode, writes atomically, and keeps concurrent changes. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../../local/folders.ts';
import { writeNew } from '../../local/private-file.ts';

const MAX_ATTEMPTS = 3;

/** The file cannot be read as its program reads it, or cannot be written, so it is not changed. */
export class Unreadable extends Error {}

/** What `work` answers; `otherwise` where it meets such a file. */
export function ifReadable<T>(otherwise: T, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unreadable) return otherwise;
    throw error;
  }
}

/** The text of a file; null if it does not exist. @throws Unreadable for bytes that are not UTF-8 and would be lost, too */
export function readText(path: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw new Unreadable(`${path}: ${(error as Error).message}`);
  }
}

/**
 * Writes the result of `change`, and retries if the file was changed meanwhile; null leaves it unchanged.
 * @returns the folders that were created for it. @throws Unreadable if it cannot be read or written
 */
export function changeFile(path: string, change: (text: string | null) => string | null): string[] {
  for (let left = MAX_ATTEMPTS; ; left--) {
    const before = readText(path);
    const after = change(before);
    if (after === null || after === before) return [];
    try {
      const made = makeFolders(dirname(target(path)));
      if (put(target(path), after, before)) return made;
    } catch (error) {
      throw new Unreadable((error as Error).message);
    }
    if (left <= 1) throw new Unreadable(`${path} is being changed by another program.`);
  }
}

/** Deletes a file, and the folders that were created for it, if they are empty. @throws Unreadable if it cannot be deleted */
export function removeFile(path: string, folders: readonly string[]): void {
  try {
    if (existsSync(path)) unlinkSync(target(path));
  } catch (error) {
    throw new Unreadable((error as Error).message);
  }
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // It is not empty.
    }
  }
}

/** The target of a path, even if a link points to a missing file. */
function target(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? resolve(dirname(path), readlinkSync(path)) : path;
  }
}

/** Creates missing folders. @returns them, outermost first */
function makeFolders(folder: string): string[] {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = dirname(at)) missing.unshift(at);
  makeFolder(folder);
  return missing;
}

/** Replaces the file atomically; false if its content was changed meanwhile. */
function put(path: string, text: string, before: string | null): boolean {
  const draft = join(dirname(path), `.service-${crypto.randomUUID()}.tmp`);
  writeNew(draft, text, 0o600);
  try {
    if (readText(path) !== before) return false;
    if (before !== null) chmodSync(draft, statSync(path).mode & 0o777);
    renameSync(draft, path);
    return true;
  } finally {
    rmSync(draft, { force: true });
  }
}
