/** Installs the peers outside the checkout, once for each version of their list. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const lists = ['package.json', 'package-lock.json'];

/** The folder they are installed in. */
export function installPeers(): string {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'board-service-bench');
  const hash = createHash('sha256');
  for (const list of lists) hash.update(readFileSync(join(here, list)));
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  process.stdout.write(`installing the peers in ${cache} …\n`);
  // Made beside it and renamed, so that one which was interrupted is not taken for whole.
  const making = `${folder}.new`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  for (const list of lists) copyFileSync(join(here, list), join(making, list));
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd: making,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm ended with ${status}`);
  renameSync(making, folder);
  return folder;
}

/** The version of a peer that is installed there. */
export const peerVersion = (folder: string, name: string): string =>
  (JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }).version;
