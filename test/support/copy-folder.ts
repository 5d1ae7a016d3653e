import { chmodSync, copyFileSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Copies the files and folders in a folder, with their modes, which `cpSync` does not keep for folders; `to` is made where it is
 * missing. Without a program: to start one from a large process costs more than the copying.
 */
export function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyFolder(source, copy);
    else if (entry.isFile()) copyFileSync(source, copy);
  }
  chmodSync(to, statSync(from).mode);
}
