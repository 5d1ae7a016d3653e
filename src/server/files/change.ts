/** Renaming a file, saying what it is for, and taking it off its board. */
import { Refusal } from '../../contract/errors.ts';
import { isBriefPath } from '../../contract/ids.ts';
import type { Body, Params } from '../../contract/types.ts';
import { actingOn } from '../access/acting.ts';
import { type Acting, record } from '../boards/acting.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { fileView } from '../views/file.ts';
import { fileRefusal } from '../views/file-refusals.ts';
import { changeFile, type FileRow, liveByName, setFileTasks, tasksOfFiles } from './files.store.ts';
import { requireLiveFile, taskIdsOf } from './find.steps.ts';
import { takeOff } from './write.steps.ts';

async function find(tx: WriteTx, caller: Caller, params: Params<'getFile'>) {
  const { place, acting } = await actingOn(tx, caller, params.board, ['upload_files']);
  return { place, acting, file: await requireLiveFile(tx, place.board.id, params.file) };
}

export const updateFile: WriteCase<'updateFile'> = {
  async run(tx, caller, { params, body }) {
    const { place, acting, file } = await find(tx, caller, params);
    const { name = file.name } = body;
    if (name !== file.name) await requireFreePath(tx, file, name);
    const taskIds = body.about && (await taskIdsOf(tx, place.board.id, body.about));
    if (name !== file.name) await rename(acting, file, name);
    await change(acting, file, body, taskIds);
    return { answer: await fileView(tx, place, file) };
  },
};

/** @throws Refusal `brief_path_reserved`, `file_name_taken`. */
async function requireFreePath(tx: WriteTx, file: FileRow, name: string): Promise<void> {
  if (isBriefPath(name)) {
    throw new Refusal('brief_path_reserved', `${name} is the place of the board's brief.`, {
      hint: 'Write it with service brief get and service brief put, or use another path such as notes/brief.md.',
    });
  }
  const other = await liveByName(tx, file.board_id, name);
  if (!other) return;
  throw new Refusal('file_name_taken', `There is another file at ${name}.`, {
    hint: 'Choose another path.',
    details: { name, file_id: other.id },
  });
}

/** Under another path the brief is one no longer. */
async function rename(acting: Acting, file: FileRow, name: string): Promise<void> {
  await record(acting, 'file.renamed', { after: name, before: file.name, file_id: file.id });
  await changeFile(acting.tx, file, { name, brief: 0 });
}

/** One event with what changed; nothing where nothing did. The brief is always kept current. */
async function change(
  acting: Acting,
  file: FileRow,
  { maintained }: Body<'updateFile'>,
  taskIds: string[] | undefined,
): Promise<void> {
  const { tx } = acting;
  const before = (await tasksOfFiles(tx, [file.id])).map((task) => task.id);
  const turns = maintained !== undefined && file.brief === 0 && maintained !== (file.maintained === 1);
  const retags = taskIds !== undefined && taskIds.join() !== before.join();
  if (!turns && !retags) return;
  const data = { ...(retags ? { about: taskIds } : {}), file_id: file.id, ...(turns ? { maintained } : {}) };
  await record(acting, 'file.updated', data);
  if (turns) await changeFile(tx, file, { maintained: maintained ? 1 : 0 });
  if (retags) await setFileTasks(tx, file.id, taskIds);
}

export const removeFile: WriteCase<'removeFile'> = {
  async run(tx, caller, { params, query }) {
    const { place, acting, file } = await find(tx, caller, params);
    if (query.base !== undefined && query.base !== file.latest) {
      throw await fileRefusal(tx, place, { code: 'file_changed', now: file, removing: true }, file);
    }
    await takeOff(acting, file);
    return { answer: await fileView(tx, place, file) };
  },
};
