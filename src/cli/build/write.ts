/** A folder of generated files: exactly these, and none of what is generated no more. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package, seen from dist/src/cli/build. */
export const packageRoot = join(fileURLToPath(import.meta.url), '..', '..', '..', '..', '..');

/** @param ours names of files that are generated; others in the folder are left alone. */
export function writeFolder(folder: string, files: Record<string, string>, ours: RegExp): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (ours.test(name)) rmSync(join(folder, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** Whether this file is the program that runs, and not imported by a test. */
export const runs = (url: string): boolean => process.argv[1] === fileURLToPath(url);
