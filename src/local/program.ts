/** Where the other parts of this program are, for what is started or loaded by path. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

let root = '';
let fromSources = false;

/** Told once at the start: the package's folder, and whether the sources are run without a build. */
export function setProgram(where: { root: string; fromSources: boolean }): void {
  root = where.root;
  fromSources = where.fromSources;
}

/** The file of a part such as `server/serve`. */
export function partPath(name: string): string {
  return fromSources ? join(root, 'src', `${name}.ts`) : join(root, 'dist', 'src', `${name}.js`);
}

/**
 * Loads a part that the build packs into one file of its own.
 * @param packed its name in `dist`, such as `server`
 * @param source where it begins, such as `server/entry`
 */
export async function loadPacked<Part>(packed: string, source: string): Promise<Part> {
  if (fromSources) return (await import(pathToFileURL(partPath(source)).href)) as Part;
  const { load } = (await import(pathToFileURL(join(root, 'bin', 'load.js')).href)) as { load(file: string): Part };
  return load(join(root, 'dist', `${packed}.cjs`));
}

/** Whether the sources are run without a build. */
export const runsFromSources = (): boolean => fromSources;
