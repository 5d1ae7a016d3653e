/** A place for what a test run writes that is no disk: hundreds of databases are made and removed, and each commit is synced. */
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// What Node.js compiles is not such a file: all processes of a run share it, and the next run finds it.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');

/** A run takes a few hundred MB. */
const ENOUGH = 2 * 1024 ** 3;

/** Where files live in memory, if there is room; null otherwise. A process that dies loses no more there than on a disk. */
function roomyMemory(): string | null {
  const folder = '/dev/shm';
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ENOUGH ? folder : null;
  } catch {
    return null;
  }
}

/** Lets this process and those it starts keep their temporary files in memory, if there is room, until it ends. */
export function writeToMemory(): void {
  const memory = roomyMemory();
  if (memory === null) return;
  clearAfterTheDead(memory);
  const folder = mkdtempSync(join(memory, `board-tests-${process.pid}-`));
  // Others look into it too: Postgres runs as a user of its own.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}

/** A run that was killed removes nothing, and memory is dearer than a disk. */
function clearAfterTheDead(memory: string): void {
  for (const name of readdirSync(memory)) {
    const pid = Number(/^board-tests-(\d+)-/.exec(name)?.[1]);
    if (pid > 0 && !lives(pid)) rmSync(join(memory, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's lives, too.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
