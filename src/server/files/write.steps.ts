/** What writing a file appends. */
import { type Acting, record } from '../boards/acting.steps.ts';
import { newId } from '../text/ids.ts';
import { changeFile, type FileRow, insertFile, insertVersion, setFileTasks } from './files.store.ts';

/** What a new version holds. */
interface NewVersion {
  digest: string;
  size: number;
  mediaType: string;
  maintained: boolean;
  taskIds: readonly string[];
}

/** Adds a file with its first version. */
export async function addFile(acting: Acting, name: string, brief: boolean, version: NewVersion): Promise<FileRow> {
  const { tx, board } = acting;
  const file: FileRow = {
    id: newId('fil', tx.now),
    board_id: board.id,
    name,
    maintained: version.maintained ? 1 : 0,
    brief: brief ? 1 : 0,
    removed_at: null,
    latest: 0,
    latest_at: 0,
  };
  Object.assign(file, await appendVersion(acting, file, version));
  await insertFile(tx, file);
  if (version.taskIds.length > 0) await setFileTasks(tx, file.id, version.taskIds);
  return file;
}

/** Adds a version to a file. */
export async function addVersion(acting: Acting, file: FileRow, version: NewVersion): Promise<void> {
  const { tx } = acting;
  const latest = await appendVersion(acting, file, version);
  await changeFile(tx, file, { maintained: version.maintained ? 1 : 0, ...latest });
  await setFileTasks(tx, file.id, version.taskIds);
}

async function appendVersion(acting: Acting, file: FileRow, { mediaType, taskIds, maintained, ...bytes }: NewVersion) {
  const { tx, board, member } = acting;
  const base = file.latest;
  const common = { file_id: file.id, version: base + 1, ...bytes, media_type: mediaType };
  const { seq, at } = await record(acting, 'file.version_added', {
    ...common,
    about: [...taskIds],
    base_version: base,
    maintained,
    name: file.name,
  });
  await insertVersion(tx, {
    ...common,
    by_id: member.id,
    at,
    seq,
    base,
    nth_message: board.message_count,
    nth_done: board.done_count,
    nth_answer: board.answer_count,
  });
  return { latest: base + 1, latest_at: at };
}

/** Takes a file off its board: its path is free at once. */
export async function takeOff(acting: Acting, file: FileRow): Promise<void> {
  const { at } = await record(acting, 'file.removed', { file_id: file.id, name: file.name });
  await changeFile(acting.tx, file, { removed_at: at });
}
