/** Renaming a file, saying what it is for, and taking it off its board. */
import { Refusal } from '../../contract/errors.ts';
import type { Body } from '../../contract/types.ts';
import { actingOn } from '../access/acting.ts';
import type { WriteTx } from '../db/tx.ts';
import { membersWithIds } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { append } from '../record/append.steps.ts';
import { actorView } from '../views/actors.ts';
import { fileView } from '../views/file.ts';
import { isBriefPath } from './base-version.rules.ts';
import { type FileRow, liveByName, saveFile, setFileTasks, tasksOfFiles } from './files.store.ts';
import { requireLiveFile, taskIdsOf } from './find.steps.ts';
import { refusalOf, takeOff, type Writing } from './write.steps.ts';

async function find(tx: WriteTx, caller: Caller, params: Record<string, string>) {
  const { place, acting } = await actingOn(tx, caller, params['board'] ?? '', ['upload_files']);
  return { place, writing: acting, file: await requireLiveFile(tx, place.board.id, params['file'] ?? '') };
}

export const updateFile: WriteCase<'updateFile'> = {
  async run(tx, caller, { params, body }) {
    const { place, writing, file } = await find(tx, caller, params);
    if (body.name !== undefined && body.name !== file.name) await requireFreePath(tx, file, body.name);
    const taskIds = body.about && (await taskIdsOf(tx, place.board.id, body.about));
    if (body.name !== undefined && body.name !== file.name) await rename(writing, file, body.name);
    await change(writing, file, body, taskIds);
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
async function rename({ tx, board, actor }: Writing, file: FileRow, name: string): Promise<void> {
  const data = { after: name, before: file.name, file_id: file.id };
  await append(tx, board, { type: 'file.renamed', actor, data });
  file.name = name;
  file.brief = 0;
  await saveFile(tx, file.id, { name, brief: 0 });
}

/** One event with what changed; nothing where nothing did. The brief is always kept current. */
async function change(
  { tx, board, actor }: Writing,
  file: FileRow,
  { maintained }: Body<'updateFile'>,
  taskIds: string[] | undefined,
): Promise<void> {
  const before = (await tasksOfFiles(tx, [file.id])).map((task) => task.id);
  const turns = maintained !== undefined && file.brief === 0 && maintained !== (file.maintained === 1);
  const retags = taskIds !== undefined && taskIds.join() !== before.join();
  if (!turns && !retags) return;
  const data = {
    ...(retags ? { about: taskIds } : {}),
    file_id: file.id,
    ...(turns ? { maintained } : {}),
  };
  await append(tx, board, { type: 'file.updated', actor, data });
  if (turns) {
    file.maintained = maintained ? 1 : 0;
    await saveFile(tx, file.id, { maintained: file.maintained });
  }
  if (retags) await setFileTasks(tx, file.id, taskIds);
}

export const removeFile: WriteCase<'removeFile'> = {
  async run(tx, caller, { params, query }) {
    const { place, writing, file } = await find(tx, caller, params);
    if (query.base !== undefined && query.base !== file.latest) {
      const refused = { do: 'refuse', code: 'file_changed', now: file } as const;
      throw await refusalOf(tx, place.board.id, refused, file, async (id) => {
        const [writer] = await membersWithIds(tx, [id]);
        if (!writer) throw new Error(`member ${id} is missing`);
        return actorView(writer, place.reader);
      });
    }
    await takeOff(writing, file);
    return { answer: await fileView(tx, place, file) };
  },
};
