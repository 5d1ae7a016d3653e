/** installed.json: what was set up where, so that it can be refreshed, judged and taken away again. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parseOwn, readPrivate, writePrivate } from '../../local/private-file.ts';

export type Scope = 'global' | 'project';

export interface Item {
  harness: string;
  path: string;
  kind: 'skill' | 'hooks' | 'file' | 'allow-rule';
  scope: Scope;
  /** Of the file as it was left. */
  sha256: string;
  /** Of this program, when it was written. */
  version: string;
  created_file: boolean;
  created_containers: string[];
  /** Folders that were made for the file, outermost first. */
  created_folders: string[];
  /** Texts that were put into it, in their order. */
  inserted: string[];
  /** SHA-256 of our hooks in it as they were left, whatever else the file holds. */
  own_sha256?: string;
}

export interface Installed {
  v: 1;
  /** Where the programs of harnesses were found, by name. */
  programs: Record<string, string>;
  items: Item[];
}

const pathOf = (state: string): string => join(state, 'installed.json');

/** What was noted; nothing where nothing was set up. @throws Failure `config_corrupt`, `credentials_unsafe` */
export function readInstalled(state: string): Installed {
  const text = readPrivate(pathOf(state));
  return text === null ? { v: 1, programs: {}, items: [] } : parseOwn(pathOf(state), text, isInstalled);
}

/** Where programs were found; nothing where that cannot be read. */
export function recordedPrograms(state: string): Record<string, string> {
  try {
    return readInstalled(state).programs;
  } catch {
    return {};
  }
}

export const writeInstalled = (state: string, installed: Installed): void =>
  writePrivate(pathOf(state), `${JSON.stringify(installed, null, 2)}\n`);

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function isInstalled(value: unknown): value is Installed {
  if (typeof value !== 'object' || value === null) return false;
  const { v, programs, items } = value as Record<string, unknown>;
  return v === 1 && typeof programs === 'object' && programs !== null && Array.isArray(items);
}
