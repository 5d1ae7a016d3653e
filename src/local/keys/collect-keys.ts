/** Keys for collecting the secrets of approvals: valid for ten minutes, so that a lost answer can be requested again. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Folders } from '../folders.ts';
import { readPrivate, writePrivate } from '../private-file.ts';

const LIFETIME_MS = 600_000;

type Keys = Record<string, { key: string; at: number }>;

/** The key for an approval on a server: the one of an earlier attempt, or a new one, saved before it is used. */
export function collectKey(folders: Pick<Folders, 'state'>, server: string, approval: string): string {
  const now = Date.now();
  const path = join(folders.state, 'collect.json');
  const name = `${server} ${approval}`;
  const kept = Object.fromEntries(Object.entries(read(path)).filter(([, { at }]) => at > now - LIFETIME_MS));
  const own = kept[name] ?? { key: randomBytes(24).toString('base64url'), at: now };
  writePrivate(path, `${JSON.stringify({ ...kept, [name]: own })}\n`);
  return own.key;
}

/** An unreadable file is treated as missing: the next collection makes a new key. */
function read(path: string): Keys {
  try {
    return JSON.parse(readPrivate(path) ?? '{}') as Keys;
  } catch {
    return {};
  }
}
