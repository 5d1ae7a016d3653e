/** Where the other parts of this program are, for what is started or loaded by path. */
import { join } from 'node:path';

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

/** Whether the sources are run without a build. */
export const runsFromSources = (): boolean => fromSources;
