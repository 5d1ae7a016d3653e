/** The library that stands between a process and its disk: made when a test needs it, where there is a C compiler on Linux. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newFolder } from './databases.ts';

const source = fileURLToPath(new URL('disk-journal.c', import.meta.url));
let made: string | null | undefined;

/** Tests that need the library; where it cannot be made, one that is pending says so. @param tests given its path, for LD_PRELOAD */
export function describeWithDisk(title: string, tests: (library: string) => void): void {
  const library = diskLibrary();
  describe(title, () => {
    if (library === null) it('is not tested here: that takes Linux and a C compiler (cc)');
    else tests(library);
  });
}

function diskLibrary(): string | null {
  if (made !== undefined) return made;
  made = null;
  if (process.platform !== 'linux') return made;
  const folder = newFolder('library');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'disk-journal.so');
  const { error, status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', file, source, '-ldl'], {
    encoding: 'utf8',
  });
  if (error) return made;
  if (status !== 0) throw new Error(`the library was not made: ${stderr}`);
  made = file;
  return made;
}
