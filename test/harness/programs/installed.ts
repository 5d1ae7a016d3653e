/** The programs installed beside these tests, by the names that npm gave them. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');

export function bin(name: string): string {
  return join(modules, '.bin', name);
}

export function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).version;
}
