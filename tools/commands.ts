/** Which files of `src/commands` are commands: the patterns in package.json, by which the framework finds them too. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The commands by id, such as `board:post`, each with its file below `src/commands`, such as `board/post.ts`. Sorted by file. */
export function commandFiles(root: string): Record<string, string> {
  const { oclif } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    oclif: { commands: { target: string; globPatterns: string[] } };
  };
  const { target, globPatterns } = oclif.commands;
  const files = globSync(globPatterns, { cwd: join(root, target) }).map((file) => file.replaceAll('\\', '/'));
  return Object.fromEntries(files.sort().map((file) => [idOf(file), file]));
}

/** A folder's `index.ts` is the command of the folder's name. */
const idOf = (file: string): string => file.replace(/(\/index)?\.ts$/, '').replaceAll('/', ':');
