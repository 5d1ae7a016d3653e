/** Remembers which version of a board's file each local path holds, so that an upload can name the version it replaces. */
import type { Folders } from './folders.ts';
import { isRecord, noteFile } from './private-file.ts';

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

const isContent = (value: unknown): value is Content => isRecord(value) && isRecord(value['entries']);
const file = noteFile<Content>('files.json', { v: 1, entries: {} }, isContent);

/** The file at an absolute path, if it was downloaded to or uploaded from there. */
export const rememberedAt = (folders: Folders, scope: FileScope, path: string): Remembered | null =>
  file.read(folders).entries[keyOf(scope, path)] ?? null;

/** The latest download or upload of a board's file with such a name, under any path. */
export function rememberedAs(
  folders: Folders,
  scope: FileScope,
  isNamed: (name: string) => boolean,
): Remembered | null {
  const prefix = keyOf(scope, '');
  const found = Object.entries(file.read(folders).entries)
    .filter(([key, entry]) => key.startsWith(prefix) && isNamed(entry.name))
    .map(([, entry]) => entry)
    .sort((a, b) => (a.at < b.at ? 1 : -1));
  return found[0] ?? null;
}

/** Remembers the file at an absolute path; the oldest entries are dropped. */
export function remember(folders: Folders, scope: FileScope, path: string, entry: Remembered): Promise<void> {
  return file.change(folders, (content) => {
    const key = keyOf(scope, path);
    const { [key]: _before, ...others } = content.entries;
    const kept = Object.entries({ ...others, [key]: entry })
      .sort(([, a], [, b]) => (a.at < b.at ? -1 : 1))
      .slice(-MAX_FILES);
    return { ...content, entries: Object.fromEntries(kept) };
  });
}

const keyOf = ({ serverId, actorId, boardId }: FileScope, path: string): string =>
  `${serverId}|${actorId}|${boardId}|${path}`;
