/** The last verified end of each board's record, so that a later rewrite of what was checked is found. */
import { join } from 'node:path';
import type { Folders } from './folders.ts';
import { withLock } from './lock.ts';
import { parseOwn, readPrivate, writePrivate } from './private-file.ts';

export interface Head {
  seq: number;
  hash: string;
}

type Heads = Record<string, Head>;

/** What was pinned for a board of a server, if anything. */
export function pinnedHead(folders: Folders, serverId: string, boardId: string): Head | null {
  return read(folders)[key(serverId, boardId)] ?? null;
}

/** Pins a verified head. */
export async function pinHead(folders: Folders, serverId: string, boardId: string, head: Head): Promise<void> {
  await withLock(`${path(folders)}.lock`, () => {
    const heads = read(folders);
    heads[key(serverId, boardId)] = { seq: head.seq, hash: head.hash };
    writePrivate(path(folders), `${JSON.stringify(heads, null, 2)}\n`);
  });
}

const path = (folders: Folders) => join(folders.state, 'audit-heads.json');
const key = (serverId: string, boardId: string) => `${serverId}|${boardId}`;

function read(folders: Folders): Heads {
  const text = readPrivate(path(folders));
  return text === null ? {} : parseOwn(path(folders), text, isHeads);
}

function isHeads(value: unknown): value is Heads {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
