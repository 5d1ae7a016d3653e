/** installed.json: records what was set up where, so that it can be updated, checked and removed. */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../../local/lock.ts';
import { parseOwn, readPrivate, writePrivate } from '../../local/private-file.ts';

export type Scope = 'global' | 'project';

export interface Item {
  harness: string;
  path: string;
  /** `pre-commit`: a part of a repository's hook, of no harness. */
  kind: 'skill' | 'hooks' | 'file' | 'allow-rule' | 'pre-commit';
  scope: Scope;
  /** SHA-256 of the file as we wrote it. */
  sha256: string;
  /** The version of this program that wrote it. */
  version: string;
  created_file: boolean;
  created_containers: string[];
  /** Folders that were created for the file, outermost first. */
  created_folders: string[];
  /** Texts that were inserted, in order. */
  inserted: string[];
  /** SHA-256 of our hooks in it as we wrote them, independent of its other content. */
  own_sha256?: string;
  /** Its sessions are told who else is on the files they change. */
  claims?: true;
}

export interface Installed {
  v: 1;
  /** Paths of the harnesses' programs, by name. */
  programs: Record<string, string>;
  items: Item[];
}

const pathOf = (state: string): string => join(state, 'installed.json');

/** The records; empty if nothing was set up. @throws Failure `config_corrupt`, `credentials_unsafe` */
export function readInstalled(state: string): Installed {
  const text = readPrivate(pathOf(state));
  return text === null ? { v: 1, programs: {}, items: [] } : parseOwn(pathOf(state), text, isInstalled);
}

/** The recorded paths of programs; empty if they cannot be read. */
export function recordedPrograms(state: string): Record<string, string> {
  try {
    return readInstalled(state).programs;
  } catch {
    return {};
  }
}

/** Changes what the records describe, and them with it: one command at a time, so that none loses what another noted. */
export const changeInstalled = <T>(state: string, change: (installed: Installed) => T): Promise<T> =>
  withLock(join(state, 'installed.lock'), () => {
    const installed = readInstalled(state);
    const result = change(installed);
    if (installed.items.length > 0) writePrivate(pathOf(state), `${JSON.stringify(installed, null, 2)}\n`);
    else rmSync(pathOf(state), { force: true });
    return result;
  });

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function isInstalled(value: unknown): value is Installed {
  if (typeof value !== 'object' || value === null) return false;
  const { v, programs, items } = value as Record<string, unknown>;
  return v === 1 && typeof programs === 'object' && programs !== null && Array.isArray(items);
}
