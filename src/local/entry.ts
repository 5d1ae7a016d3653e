/** Entry of `bin/run.js`: starts the part of the program that the arguments select. */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { folders, makeFolder } from './folders.ts';
import { loadPacked, setProgram } from './program.ts';
import { becomeServerProcess } from './server-process.ts';

/** @param file the entry file of the package, `bin/run.js` */
export async function start(file: string): Promise<void> {
  if (process.argv[2] === 'serve') becomeServerProcess();
  useCompileCache();
  setProgram({ root: join(file, '..', '..'), fromSources: false });
  const part = await loadPacked<{ start(entryUrl: string): Promise<void> }>(partOf(process.argv.slice(2)), '');
  await part.start(pathToFileURL(file).href);
}

/** The name of the bundle that handles these arguments. */
function partOf(words: string[]): string {
  // Hooks have their own bundle, because harnesses run them at each step; their help is in the command line.
  if (words[0] === 'hook' && !words.some((word) => word === '--help' || word === '-h')) return 'hook';
  // The daemon does not keep the command line in memory.
  return words[0] === 'daemon' && words.length === 1 ? 'daemon' : 'cli';
}

/**
 * Enables Node's compile cache for what is loaded from now on. Not in Node's default folder: all users of the machine share
 * it, and its creator could decide what the others run.
 */
function useCompileCache(): void {
  try {
    const { cache, config, data } = folders();
    // Before the first setup, nothing is written.
    if (!existsSync(data) && !existsSync(config)) return;
    makeFolder(cache);
    enableCompileCache(join(cache, 'compiled'));
  } catch {
    // The program works without a cache, only slower. The command itself reports an invalid SERVICE_HOME.
  }
}
