import { execFileSync } from 'node:child_process';

/** Copies what is in a folder, with its modes, which `cpSync` does not keep for folders; `to` is made where it is missing. */
export function copyFolder(from: string, to: string): void {
  execFileSync('cp', ['-Rp', `${from}/.`, to]);
}
