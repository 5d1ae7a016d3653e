/** Edits a board's file in the user's editor. If somebody else saved first, the user's text is kept. */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Output } from '../../../cli/output.ts';
import { called } from '../../../cli/runtime.ts';
import { staying } from '../../../cli/session/open-session.ts';
import { askChoice, mayAsk } from '../../../cli/terminal/prompts.ts';
import type { TimeStyle } from '../../../cli/terminal/time.ts';
import { leafOf } from '../../../contract/ids.ts';
import { shellArgument } from '../../../contract/text.ts';
import { Failure } from '../../../local/failure.ts';
import { inEditor, openEditor } from './editor.ts';
import { getFile, readBytes } from './get.ts';
import { keepText, type Problem, withCopy } from './kept-text.ts';
import { diffText, unified } from './merge.ts';
import { localName } from './names.ts';
import { localFile, type PutQuery } from './put.ts';
import { asNew, isGone, isLater, type Put, put } from './putting.ts';
import { type Files, note } from './scope.ts';

interface Editing {
  files: Files;
  file: { id: string; name: string; version: number };
  query: Partial<PutQuery>;
  /** What is typed to do it again, such as `service brief edit`. */
  command: string;
  /** What brings a copy of it to this machine, such as `service brief get`. */
  getCommand: string;
  /** What puts a file of this machine in its place, such as `service brief put`. */
  putCommand: string;
  key: string | undefined;
  times: TimeStyle;
  out: Output;
  noInput: boolean;
}

/** The text on its way: where it lies, and what it was made from. */
interface Text {
  path: string;
  base: number;
  digest: string;
}

/** Null: nothing was changed. */
export async function edited(editing: Editing): Promise<Put | null> {
  const { files, file, out } = editing;
  const { id, name, version } = file;
  const write = async (path: string): Promise<Text> => {
    const got = await getFile(files, { file: id, version, name }, path, true, out);
    return { path, base: got.version, digest: got.digest };
  };
  const keep = (text: Text, error: unknown) => kept(editing, text, error);
  return inEditor({ name: localName(name), write, instead: withoutEditor(editing), keep }, async (text) =>
    (await localFile(text.path)).digest === text.digest ? null : save(editing, text),
  );
}

const withoutEditor = ({ getCommand, files }: Editing): string =>
  `change a copy: ${getCommand}${staying(files.session)}`;

async function save(editing: Editing, text: Text, how: 'fail' | 'merge' = 'fail'): Promise<Put> {
  const { files, file, query, command, key, times, out, noInput } = editing;
  // What replaces another version, or merges, is another request.
  const step = `${text.base === file.version ? '' : `.${text.base}`}${how === 'merge' ? '.merge' : ''}`;
  const putting = {
    files,
    local: await localFile(text.path),
    query: { ...query, name: file.name, base: text.base, file_id: file.id },
    path: text.path,
    onConflict: how,
    command: `${command}${staying(files.session)}`,
    key: key === undefined ? undefined : `${key}${step}`,
    times,
    out,
  };
  try {
    return await put(putting);
  } catch (error) {
    if (!(error instanceof Failure) || !mayAsk(out, noInput)) throw error;
    if (error.code === 'merge_conflict') {
      out.note(error.message);
      text.base = Number(error.details?.['version']);
      await openEditor(text.path, withoutEditor(editing));
      return save(editing, text);
    }
    if (error.code !== 'file_changed' || !isLater(putting.query, error.details)) throw error;
    out.note(error.message);
    return decided(editing, text, error);
  }
}

async function decided(editing: Editing, text: Text, error: Failure): Promise<Put> {
  const version = Number(error.details?.['version']);
  const choice = await askChoice('What now?', {
    merge: 'Merge what both wrote',
    overwrite: 'Show the difference, then overwrite',
    keep: 'Keep a copy here and stop',
  });
  if (choice === 'merge') return save(editing, text, 'merge');
  if (choice === 'keep') throw error;
  const { bytes } = await readBytes(editing.files, { file: editing.file.id, version }, editing.out);
  const diff = unified({ label: `v${version}`, bytes }, { label: 'yours', bytes: readFileSync(text.path) });
  editing.out.note(diffText(diff, editing.out.errorPaint));
  const sure = await askChoice('Overwrite it?', { keep: 'No, keep a copy here and stop', yes: 'Yes, overwrite' });
  if (sure !== 'yes') throw error;
  text.base = version;
  return save(editing, text);
}

/** What ended it, with the text saved where it stays, and noted as what it was made from: it can be put from there. */
async function kept(editing: Editing, text: Text, error: unknown): Promise<unknown> {
  const { files, file, query, out, putCommand } = editing;
  const ending = extname(file.name);
  const stem = leafOf(file.name).slice(0, ending === '' ? undefined : -ending.length);
  const copy = keepText(text.path, stem, ending);
  await note(files, copy, { file_id: file.id, name: file.name, version: text.base, digest: text.digest }).catch(
    () => {},
  );
  const again = `${putCommand} ${shellArgument(copy)}`;
  const stay = staying(files.session);
  const line = `${again} --merge${stay}`;
  const hintOf = ({ code, details }: Problem): string | null => {
    if (code !== 'file_changed') return null;
    if (isGone(query, details)) return called(asNew(`${again}${stay}`));
    return isLater({ ...query, base: text.base, file_id: file.id }, details) ? called(line) : null;
  };
  return withCopy(error, { path: copy, line, out, hintOf });
}
