/** Files with secrets: read only if no other user can access them, replaced atomically. */
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from './failure.ts';
import { type Folders, makeFolder } from './folders.ts';
import { withLock } from './lock.ts';

/** The text of a secret file; null if it does not exist. @throws Failure for links, other owners and open modes */
export function readPrivate(path: string): string | null {
  return readPrivateBytes(path)?.toString('utf8') ?? null;
}

/** The bytes of a secret file, like `readPrivate`. */
export function readPrivateBytes(path: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP' || code === 'EMLINK') throw unsafe(path, 'is a link');
    throw error;
  }
  try {
    checkOwnership(fstatSync(fd), path);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Replaces a file atomically and durably. */
export function writePrivate(path: string, text: string, mode = 0o600): void {
  makeFolder(dirname(path));
  const draft = draftOf(path);
  writeNew(draft, text, mode);
  try {
    renameSync(draft, path);
  } catch (error) {
    unlinkSync(draft);
    throw error;
  }
  syncFolder(dirname(path));
}

/** A new name beside a file, for what takes its place once it is whole. Not of the process number, which is the same in each container. */
export const draftOf = (path: string): string => `${path}.part-${crypto.randomUUID().slice(0, 8)}`;

/** Writes a new file, complete and durable, or leaves none. */
export function writeNew(path: string, content: string | Buffer, mode: number): void {
  const fd = openSync(path, 'wx', mode);
  try {
    // `writeSync` writes only a part, without an error, where the disk becomes full.
    writeFileSync(fd, content);
    fsyncSync(fd);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Parses a file of ours. @throws Failure that names a file with invalid content, which stays unchanged */
export function parseOwn<T>(path: string, text: string, check: (value: unknown) => value is T): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw corrupt(path);
  }
  if (!check(value)) throw corrupt(path);
  return value;
}

function corrupt(path: string): Failure {
  return new Failure('config_corrupt', `${path} does not hold what this program wrote; it was left as it is.`, {
    hint: `Repair it, or move it away: mv '${path}' '${path}.broken'`,
  });
}

/** Checks a secret file without opening it; a missing one passes. @throws Failure like `readPrivate` */
export function checkPrivate(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) throw unsafe(path, 'is a link');
  if (stat) checkOwnership(stat, path);
}

function checkOwnership(stat: Stats, path: string): void {
  if (!stat.isFile()) throw unsafe(path, 'is not a plain file');
  if (process.platform === 'win32') return;
  if (process.getuid && stat.uid !== process.getuid()) throw unsafe(path, "is another user's", `ls -l '${path}'`);
  if (stat.mode & 0o077) throw unsafe(path, 'can be read by others', `chmod 600 '${path}'`);
}

function unsafe(path: string, reason: string, fix = `rm '${path}'  # after looking at it`): Failure {
  return new Failure('credentials_unsafe', `${path} ${reason}, so nothing in it was used.`, { hint: fix });
}

function syncFolder(path: string): void {
  try {
    const fd = openSync(path, 'r');
    fsyncSync(fd);
    closeSync(fd);
  } catch {
    // Some systems cannot sync a folder; the rename is atomic there all the same.
  }
}

type State = Pick<Folders, 'state'>;

/**
 * A JSON file of ours in the state folder, changed by one process at a time.
 * @param empty what a missing file stands for @param check whether a value is what this program wrote
 */
export function noteFile<T>(name: string, empty: T, check: (value: unknown) => value is T) {
  /** What is there, where an unreadable file must not pass for a missing one. @throws Failure `config_corrupt`, `credentials_unsafe` */
  const readStrictly = ({ state }: State): T => {
    const path = join(state, name);
    const text = readPrivate(path);
    return text === null ? empty : parseOwn(path, text, check);
  };
  /** As nothing where this user may not enter the folder, as with the HOME of root. @throws Failure as `readStrictly` */
  const read = (folders: State): T => (mayEnter(folders.state) ? readStrictly(folders) : empty);
  /** @param changed answers the new value, or the very one it is given: then nothing is written */
  const change = (folders: State, changed: (before: T) => T): Promise<void> => {
    const path = join(folders.state, name);
    return withLock(`${path}.lock`, () => {
      const before = readStrictly(folders);
      const after = changed(before);
      if (after !== before) writePrivate(path, `${JSON.stringify(after)}\n`);
    });
  };
  return { read, readStrictly, change };
}

/** No also where there is none. */
function mayEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether a value is an object with fields, and no list. */
export const isRecord = <T>(value: unknown): value is Record<string, T> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
