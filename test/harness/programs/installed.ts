/** The programs installed beside these tests, by the names that npm gave them. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = join(dirname(fileURLToPath(import.meta.url)), '..');
/** @param apart the folder of a package of its own. */
const modules = (apart = '.'): string => join(here, apart, 'node_modules');

export function bin(name: string, apart?: string): string {
  return join(modules(apart), '.bin', name);
}

export function versionOf(name: string, apart?: string): string {
  return JSON.parse(readFileSync(join(modules(apart), name, 'package.json'), 'utf8')).version;
}
