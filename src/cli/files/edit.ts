/** A file of a board in the person's editor: got, edited, put; and if somebody else was first, the text is never lost. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure } from '../../local/failure.ts';
import { undoAtExit } from '../at-exit.ts';
import { openEditor } from '../editor.ts';
import type { Output } from '../output.ts';
import { askChoice, mayAsk } from '../prompts.ts';
import type { TimeStyle } from '../time.ts';
import { getFile, readBytes } from './get.ts';
import { unified } from './merge.ts';
import { leafOf } from './names.ts';
import { localFile, type PutQuery } from './put.ts';
import { type Put, put } from './putting.ts';
import type { Files } from './scope.ts';

export interface Editing {
  files: Files;
  file: { id: string; name: string; version: number };
  query: Partial<PutQuery>;
  key: string | undefined;
  times: TimeStyle;
  out: Output;
  noInput: boolean;
}

/** Null: nothing was changed. */
export async function edited(editing: Editing): Promise<Put | null> {
  const { files, file, out } = editing;
  const folder = mkdtempSync(join(tmpdir(), 'service-edit-'));
  const path = join(folder, leafOf(file.name));
  let decided = () => {};
  try {
    const got = await getFile(files, { file: file.id, version: file.version, name: file.name }, path, true, out);
    openEditor(path);
    decided = undoAtExit(() => process.stderr.write(`Your text is still here: ${path}\n`));
    if ((await localFile(path)).digest === got.digest) return null;
    return await saved(editing, path, got.version);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    decided();
  }
}

async function saved(editing: Editing, path: string, base: number, how: 'fail' | 'merge' = 'fail'): Promise<Put> {
  const { files, file, query, key, times, out, noInput } = editing;
  const putting = {
    files,
    local: await localFile(path),
    query: { ...query, name: file.name, base, file_id: file.id },
    path,
    onConflict: how,
    command: `service file edit ${file.name}`,
    key: how === 'merge' && key !== undefined ? `${key}.merge` : key,
    times,
    out,
  };
  try {
    return await put(putting);
  } catch (error) {
    if (!(error instanceof Failure) || !mayAsk(out, noInput)) throw kept(error, path, file.name);
    if (error.code === 'merge_conflict') {
      out.note(error.message);
      openEditor(path);
      return saved(editing, path, Number(error.details?.['version']));
    }
    if (error.code !== 'file_changed') throw kept(error, path, file.name);
    out.note(error.message);
    return decided(editing, path, base, error);
  }
}

async function decided(editing: Editing, path: string, base: number, error: Failure): Promise<Put> {
  const version = Number(error.details?.['version']);
  const choice = await askChoice('What now?', {
    merge: 'Merge what both wrote',
    overwrite: 'Show the difference, then overwrite',
    keep: 'Keep a copy here and stop',
  });
  if (choice === 'merge') return saved(editing, path, base, 'merge');
  if (choice === 'keep') throw kept(error, path, editing.file.name);
  const { bytes } = await readBytes(editing.files, { file: editing.file.id, version }, editing.out);
  editing.out.note(unified({ label: `v${version}`, bytes }, { label: 'yours', bytes: readFileSync(path) }));
  const sure = await askChoice('Overwrite it?', { keep: 'No, keep a copy here and stop', yes: 'Yes, overwrite' });
  if (sure !== 'yes') throw kept(error, path, editing.file.name);
  return saved(editing, path, version);
}

/** The refusal, with the text saved where it stays. */
function kept(error: unknown, path: string, name: string): unknown {
  const copy = resolve(`${leafOf(name)}.edited-${Date.now().toString(36)}`);
  copyFileSync(path, copy);
  if (!(error instanceof Error)) return error;
  const { code = 'internal', hint = '', details, exit } = error as Failure;
  return new Failure(code, `${error.message} Your text is now ${copy}.`, {
    hint,
    details: { ...details, path: copy },
    ...(exit === undefined ? {} : { exit }),
  });
}
