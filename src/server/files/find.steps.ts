/** A file of a board as somebody named it, and what it is for. */
import { Refusal } from '../../contract/errors.ts';
import { idPattern } from '../../contract/ids.ts';
import type { ReadTx } from '../db/tx.ts';
import { requireTask } from '../tasks/find.steps.ts';
import { type FileRow, fileById, liveByName, type VersionRow, versionOf } from './files.store.ts';

const fileId = idPattern('fil');

/** A file by its path while it is live, by its id for good. @throws Refusal `file_not_found`. */
export async function requireFile(tx: ReadTx, boardId: string, selector: string): Promise<FileRow> {
  const file = fileId.test(selector) ? await fileById(tx, boardId, selector) : await liveByName(tx, boardId, selector);
  if (!file) throw fileNotFound();
  return file;
}

/** The same for what a removed file no longer takes. @throws Refusal `file_not_found`. */
export async function requireLiveFile(tx: ReadTx, boardId: string, selector: string): Promise<FileRow> {
  const file = await requireFile(tx, boardId, selector);
  if (file.removed_at !== null) throw fileNotFound();
  return file;
}

const fileNotFound = (): Refusal =>
  new Refusal('file_not_found', 'This board has no such file.', { hint: 'service file list shows what there is.' });

/** @param version a number; null: the latest. @throws Refusal `version_not_found`. */
export async function requireVersion(tx: ReadTx, file: FileRow, version: number | null): Promise<VersionRow> {
  // A number beyond the latest version may be out of range for the database, so it is not queried.
  const found = version !== null && version > file.latest ? null : await versionOf(tx, file.id, version ?? file.latest);
  if (found) return found;
  throw new Refusal('version_not_found', `${file.name} has no version ${version}.`, {
    // The path of a removed one is free, or another's.
    hint: `service file show ${file.removed_at === null ? file.name : file.id} shows its versions.`,
    details: { name: file.name, version, latest: file.latest },
  });
}

/** Ids of the tasks that are named, each once. @throws Refusal `task_not_found`. */
export async function taskIdsOf(tx: ReadTx, boardId: string, selectors: readonly string[]): Promise<string[]> {
  const ids = new Set<string>();
  for (const selector of selectors) ids.add((await requireTask(tx, boardId, selector)).id);
  return [...ids];
}
