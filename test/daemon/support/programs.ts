/** Programs of these tests in one file each, so that one which is started hundreds of times starts at once. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const made = new Map<string, Promise<string>>();

/** @param name of a file beside this one, without its ending. @returns the program's path */
export function program(name: string): Promise<string> {
  const known = made.get(name);
  if (known) return known;
  const outfile = join(root, 'node_modules', '.cache', `${name}.${process.pid}.mjs`);
  const building = build({
    entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'warning',
  }).then(() => outfile);
  made.set(name, building);
  return building;
}
