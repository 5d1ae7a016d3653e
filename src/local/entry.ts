/** What `bin/run.js` starts: the part of the program that the command line asks for. */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { folders, makeFolder } from './folders.ts';
import { loadPacked, setProgram } from './program.ts';

interface Part {
  start(entryUrl: string): Promise<void>;
}

/** @param file the entry file of the package, `bin/run.js` */
export async function start(file: string): Promise<void> {
  keepCompiled();
  setProgram({ root: join(file, '..', '..'), fromSources: false });
  const part = await loadPacked<Part>(partOf(process.argv.slice(2)), '');
  await part.start(pathToFileURL(file).href);
}

/** The name of the packed file that serves these words. */
function partOf(words: string[]): string {
  // What harnesses run at each step has a file of its own; its help is the command line's.
  if (words[0] === 'hook' && !words.some((word) => word === '--help' || word === '-h')) return 'hook';
  // What runs in the background leaves the command line out of its memory.
  return words[0] === 'daemon' && words.length === 1 ? 'daemon' : 'cli';
}

/**
 * Lets Node keep the compiled form of what it loads from now on. Not where Node would by itself: that folder is one for all
 * users of the machine, and whoever makes it first decides what the others run.
 */
function keepCompiled(): void {
  try {
    const { cache, config, data } = folders();
    // Where the program was never used, it leaves nothing behind.
    if (!existsSync(data) && !existsSync(config)) return;
    makeFolder(cache);
    enableCompileCache(join(cache, 'compiled'));
  } catch {
    // Without it the program starts later, but works. A wrong SERVICE_HOME is named by the command itself.
  }
}
