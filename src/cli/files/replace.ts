/** Writing over a file of the person's: as a whole or not at all, so that a full disk or Ctrl-C costs nothing of it. */
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';

/** @throws whatever keeps it from being written; then the file is as it was. */
export function replaceFile(path: string, bytes: Buffer): void {
  const there = statSync(path, { throwIfNoEntry: false });
  // Through a link, which stays one.
  const target = there ? realpathSync(path) : path;
  const part = `${target}.part-${process.pid}`;
  try {
    const file = openSync(part, 'wx', there ? there.mode & 0o777 : 0o666);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(part, target);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
