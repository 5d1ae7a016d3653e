/** Remembers which version of a board's file each local path holds, so that an upload can name the version it replaces. */
import { join } from 'node:path';
import type { Folders } from './folders.ts';
import { withLock } from './lock.ts';
import { parseOwn, readPrivate, writePrivate } from './private-file.ts';

export interface Remembered {
  file_id: string;
  name: string;
  version: number;
  digest: string;
  /** When it was downloaded or uploaded. */
  at: string;
}

/** Identifies a person's or seat's files of a board. */
export interface FileScope {
  serverId: string;
  actorId: string;
  boardId: string;
}

interface Content {
  v: 1;
  entries: Record<string, Remembered>;
}

const MAX_FILES = 5_000;

/** The file at an absolute path, if it was downloaded to or uploaded from there. */
export const rememberedAt = (folders: Folders, scope: FileScope, path: string): Remembered | null =>
  read(folders).entries[keyOf(scope, path)] ?? null;

/** The latest download or upload of a board's file with one of these names, under any path. */
export function rememberedAs(folders: Folders, scope: FileScope, names: readonly string[]): Remembered | null {
  const prefix = keyOf(scope, '');
  const found = Object.entries(read(folders).entries)
    .filter(([key, entry]) => key.startsWith(prefix) && names.includes(entry.name))
    .map(([, entry]) => entry)
    .sort((a, b) => (a.at < b.at ? 1 : -1));
  return found[0] ?? null;
}

/** Remembers the file at an absolute path; the oldest entries are dropped. */
export async function remember(folders: Folders, scope: FileScope, path: string, entry: Remembered): Promise<void> {
  await withLock(`${fileOf(folders)}.lock`, () => {
    const content = read(folders);
    const key = keyOf(scope, path);
    const { [key]: _before, ...others } = content.entries;
    const kept = Object.entries({ ...others, [key]: entry })
      .sort(([, a], [, b]) => (a.at < b.at ? -1 : 1))
      .slice(-MAX_FILES);
    writePrivate(fileOf(folders), `${JSON.stringify({ ...content, entries: Object.fromEntries(kept) })}\n`);
  });
}

const fileOf = (folders: Folders): string => join(folders.state, 'files.json');
const keyOf = ({ serverId, actorId, boardId }: FileScope, path: string): string =>
  `${serverId}|${actorId}|${boardId}|${path}`;

function read(folders: Folders): Content {
  const text = readPrivate(fileOf(folders));
  return text === null ? { v: 1, entries: {} } : parseOwn(fileOf(folders), text, isContent);
}

function isContent(value: unknown): value is Content {
  const entries = (value as { entries?: unknown } | null)?.entries;
  return typeof entries === 'object' && entries !== null;
}
