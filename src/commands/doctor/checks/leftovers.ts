/** Finds what interrupted commands left behind: stale locks and unsent input. */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../../local/folders.ts';
import { alive } from '../../../local/process.ts';
import { type Around, type Check, fine, warning } from '../lib/check.ts';

/** A spooled input is older than any upload may take. */
const SPOOL_MS = 86_400_000;
/** A lock is taken over after this long anyway. */
const LOCK_MS = 30_000;

export const leftovers: Check = {
  name: 'leftovers',

  async run(around) {
    const found = stale(around);
    if (found.length === 0) return [fine('leftovers', 'no stale locks, no old spooled input')];
    return found.map((path) => warning('leftovers', 'stale', `${path} is left over.`, 'service doctor --fix'));
  },

  async repair(around) {
    const found = stale(around);
    for (const path of found) rmSync(path, { recursive: true, force: true });
    return found.map((path) => `removed ${path}`);
  },
};

function stale(around: Around): string[] {
  const { config, state, data, cache } = around.folders;
  const locks = [join(config, 'credentials.lock'), join(state, 'start.lock'), join(data, 'server.addr.lock')];
  const old = (path: string, ms: number) => ageOf(path, around.now()) > ms;
  const spool = join(cache, 'spool');
  return [
    ...locks.filter((path) => old(path, LOCK_MS) && !held(path)),
    ...namesIn(spool)
      .map((name) => join(spool, name))
      .filter((path) => old(path, SPOOL_MS)),
  ];
}

function ageOf(path: string, now: number): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? now - stat.mtimeMs : Number.NEGATIVE_INFINITY;
}

/** Whether the process that took the lock still runs. */
function held(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 && alive(pid);
  } catch {
    return false;
  }
}
