/** Paths of the parts of this program that are started or loaded by path. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadCompiled } from './compiled.ts';

let root = '';
let fromSources = false;

/** Sets, once at the start, the package's folder and whether the sources run without a build. */
export function setProgram(where: { root: string; fromSources: boolean }): void {
  root = where.root;
  fromSources = where.fromSources;
}

/**
 * The file of a part that is loaded or run by itself.
 * @param packed its name in `dist`, such as `server.cjs`
 * @param source its source in `src`, such as `server/entry`
 */
export const partPath = (packed: string, source: string): string =>
  fromSources ? join(root, 'src', `${source}.ts`) : join(root, 'dist', packed);

/**
 * Loads a part that the build packs into one file of its own.
 * @param packed its name in `dist`, such as `server`
 * @param source where it begins, such as `server/entry`
 */
export async function loadPacked<Part>(packed: string, source: string): Promise<Part> {
  const file = partPath(`${packed}.cjs`, source);
  if (fromSources) return (await import(pathToFileURL(file).href)) as Part;
  return loadCompiled(file) as Part;
}

/** Whether the sources are run without a build. */
export const runsFromSources = (): boolean => fromSources;
