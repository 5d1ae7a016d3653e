/** A text in the person's own editor. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../local/failure.ts';
import { runtime } from './runtime.ts';

/** Opens the text under this file name and answers what was saved, without the line end that editors add. */
export async function edit(text: string, name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'service-edit-'));
  const file = join(folder, name);
  try {
    writeFileSync(file, text === '' ? '' : `${text}\n`, { mode: 0o600 });
    openEditor(file);
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lets the person change a file; answers when the editor ends. */
export function openEditor(file: string): void {
  const { env } = runtime();
  const editor = env.VISUAL || env.EDITOR || 'vi';
  // By the shell, because an editor is often named with its options. Standard output is the result's.
  const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: ['inherit', 2, 2] });
  if (error || status !== 0) throw failed(editor);
}

const failed = (editor: string): Failure =>
  new Failure('editor_failed', `The editor ${editor} could not be run or gave up, so nothing was changed.`, {
    hint: 'Set EDITOR, or give the text with --set or --file',
  });
