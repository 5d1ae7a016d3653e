/** Files of the data folder that only their owner may reach, written so that a crash leaves them whole or absent. */
import fs from 'node:fs';
import { dirname } from 'node:path';
import { ServeError } from './serve-error.ts';

/** Makes the folder, closed to others. @throws ServeError `data_unsafe` when it is a link or another user's. */
export function prepareFolder(path: string): void {
  fs.mkdirSync(path, { recursive: true, mode: 0o700 });
  const stat = fs.lstatSync(path);
  if (stat.isSymbolicLink() || !stat.isDirectory())
    throw unsafe(path, 'is not a folder of its own', 'name the folder itself, not a link to it');
  requireOwner(path, stat.uid);
  if ((stat.mode & 0o077) !== 0) fs.chmodSync(path, 0o700);
}

/** @throws ServeError `data_unsafe` when the file exists and is a link, another user's, or open to others. */
export function requirePrivate(path: string): void {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isFile()) throw unsafe(path, 'is not a regular file', `remove ${path}`);
  requireOwner(path, stat.uid);
  if ((stat.mode & 0o077) !== 0 && process.platform !== 'win32')
    throw unsafe(path, 'is open to others', `chmod 600 ${path}`);
}

function requireOwner(path: string, uid: number): void {
  if (process.getuid !== undefined && uid !== process.getuid())
    throw unsafe(path, 'belongs to another user', `chown it, or use another folder`);
}

const unsafe = (path: string, problem: string, fix: string): ServeError =>
  new ServeError('data_unsafe', `${path} ${problem}.`, `Fix: ${fix}`);

/** Makes an empty private file where there is none; a database engine keeps its mode, also for the files beside it. */
export function ensurePrivate(path: string): void {
  requirePrivate(path);
  if (fs.existsSync(path)) return;
  // Another start may make it at this moment, too.
  fs.closeSync(fs.openSync(path, 'a', 0o600));
  syncFolder(dirname(path));
}

/** The content of a private file; null when there is none. @throws ServeError `data_unsafe`. */
export function readPrivate(path: string): Buffer | null {
  requirePrivate(path);
  try {
    return fs.readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Creates a file with its whole content, mode 0600, durable: it appears complete or not at all.
 * @throws EEXIST when it is there already.
 */
export function createPrivate(path: string, content: string | Buffer): void {
  const part = writePart(path, content);
  try {
    fs.linkSync(part, path);
  } finally {
    fs.unlinkSync(part);
  }
  syncFolder(dirname(path));
}

/** The same where there may be one already, which stays until the new one is whole. */
export function replacePrivate(path: string, content: string | Buffer): void {
  fs.renameSync(writePart(path, content), path);
  syncFolder(dirname(path));
}

/** Writes a file beside the one it will be, and flushes it; answers its path. */
function writePart(path: string, content: string | Buffer): string {
  const part = `${path}.part`;
  fs.rmSync(part, { force: true });
  const file = fs.openSync(part, 'wx', 0o600);
  try {
    fs.writeFileSync(file, content);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  return part;
}

/** Gives a pending file its final name without ever replacing another one. */
export function deliver(pending: string, final: string): void {
  try {
    fs.linkSync(pending, final);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!fs.readFileSync(final).equals(fs.readFileSync(pending))) {
      throw new ServeError(
        'key_file_differs',
        `${final} holds another key than ${pending}.`,
        `Move ${final} away and start again.`,
      );
    }
  }
  fs.unlinkSync(pending);
  syncFolder(dirname(final));
}

export function removeFile(path: string): void {
  fs.unlinkSync(path);
  syncFolder(dirname(path));
}

/** Makes names created or removed in a folder durable. Not every platform can open a folder; there the file system decides. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}
