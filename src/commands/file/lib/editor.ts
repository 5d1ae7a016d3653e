/** Opens a text in the user's editor. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import { undoAtExit } from '../../../cli/signals.ts';
import { inForeground } from '../../../cli/terminal/pager.ts';
import { show } from '../../../cli/terminal/terminal.ts';
import { Failure } from '../../../local/failure.ts';

/** Opens the text under this file name and answers what was saved, without the line end that editors add. */
export async function edit(text: string, name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'service-edit-'));
  const file = join(folder, name);
  try {
    writeFileSync(file, text === '' ? '' : `${text}\n`, { mode: 0o600 });
    await openEditor(file, 'give the text with --set or --file');
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lets the person change a file; answers when the editor ends. `instead` is what may be done without one. */
export async function openEditor(file: string, instead: string): Promise<void> {
  const { env } = runtime();
  const editor = env.VISUAL || env.EDITOR || 'vi';
  const ended = undoAtExit(() => show(process.stderr, `Your text is still here: ${file}\n`));
  // Standard output is the result's.
  const child = inForeground(`${editor} "$1"`, [file], { stdio: ['inherit', 2, 2] });
  const status = await new Promise((resolve) => child.on('error', resolve).on('close', resolve));
  ended();
  if (status !== 0) throw failed(editor, instead);
}

const failed = (editor: string, instead: string): Failure =>
  new Failure('editor_failed', `The editor ${editor} could not be run or gave up, so nothing was changed.`, {
    hint: `Set EDITOR, or ${instead}`,
  });
