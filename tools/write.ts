/** Writes generated files, deletes obsolete ones, and does not touch unchanged ones. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Whether a generated file is newer than all sources. A folder's time changes when files are added or removed.
 *
 * @param sources files and folders, from the root
 */
export function isUpToDate(generated: string, root: string, sources: string[]): boolean {
  const made = statSync(generated, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inside = (path: string): string[] =>
    statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
  return sources
    .map((source) => join(root, source))
    .flatMap((path) => [path, ...inside(path).map((name) => join(path, name))])
    .every((path) => statSync(path).mtimeMs <= made);
}

/** Writes a file unless it has this text already. */
export function writeChanged(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** @param ours names of files that are generated; others in the folder are left alone. */
export function writeFolder(folder: string, files: Record<string, string>, ours: RegExp): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder))
    if (ours.test(name) && !Object.hasOwn(files, name)) rmSync(join(folder, name), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeChanged(join(folder, name), text);
}
