/** Opens a text in the user's editor. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import { undoAtExit } from '../../../cli/signals.ts';
import { inForeground } from '../../../cli/terminal/pager.ts';
import { show } from '../../../cli/terminal/terminal.ts';
import { Failure } from '../../../local/failure.ts';

interface Edited<Begun> {
  /** The name of the file that the editor opens. */
  name: string;
  /** Makes that file. */
  write(path: string): Begun | Promise<Begun>;
  /** What may be done without an editor. */
  instead: string;
}

/** Opens a text in an editor, and stays with it until `use` has ended: what ends the program before leaves it there. */
export async function inEditor<Begun, Result>(
  { name, write, instead }: Edited<Begun>,
  use: (path: string, begun: Begun) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'service-edit-'));
  const path = join(folder, name);
  let saved = () => {};
  try {
    const begun = await write(path);
    await openEditor(path, instead);
    saved = undoAtExit(() => show(process.stderr, `Your text is still here: ${path}\n`));
    return await use(path, begun);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    saved();
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
