/** One writer at a time, across processes: a lock is a file that can be created only once. */
import { closeSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { sleep } from '../client/time.ts';
import { makeFolder } from './folders.ts';
import { alive } from './process.ts';

const PAUSE_MS = 20;

/** Runs `work` while holding the lock; waits for its holder, and takes over from one that died or hangs. */
export async function withLock<T>(path: string, work: () => Promise<T> | T, staleMs = 10_000): Promise<T> {
  makeFolder(dirname(path));
  while (!take(path)) {
    breakStale(path, staleMs);
    await sleep(PAUSE_MS);
  }
  try {
    return await work();
  } finally {
    if (holder(path) === process.pid) remove(path);
  }
}

function take(path: string): boolean {
  try {
    const fd = openSync(path, 'wx', 0o600);
    writeSync(fd, String(process.pid));
    closeSync(fd);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** A fresh lock is never broken, so that a holder between creating the file and writing its number is safe. */
function breakStale(path: string, staleMs: number): void {
  try {
    const age = Date.now() - statSync(path).mtimeMs;
    const pid = holder(path);
    // Before a crash the clock may have been ahead.
    if (age > staleMs || (Math.abs(age) > 1000 && (pid === null || !alive(pid)))) unlinkSync(path);
  } catch (error) {
    // Released meanwhile. One that cannot be removed, on a disk that is read-only by now, would be waited for for ever.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function holder(path: string): number | null {
  try {
    return Number(readFileSync(path, 'utf8')) || null;
  } catch {
    return null;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already.
  }
}
