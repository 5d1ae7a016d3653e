/** Opens a text in the user's editor. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
  /** Keeps what was typed where something fails, elsewhere or there; answers with that error and the place of the text. */
  keep(begun: Begun, error: unknown): unknown;
}

/** Opens a text in an editor, and stays with it until `use` has ended: what ends the program before leaves it there. */
export async function inEditor<Begun, Result>(
  { name, write, instead, keep }: Edited<Begun>,
  use: (begun: Begun) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'service-edit-'));
  const path = join(folder, name);
  let saved = () => {};
  let stays = false;
  try {
    const begun = await write(path);
    const before = contentOf(path);
    try {
      await openEditor(path, instead);
      saved = undoAtExit(() => show(process.stderr, `Your text is still here: ${path}\n`));
      return await use(begun);
    } catch (error) {
      const now = contentOf(path);
      if (now === null || before?.equals(now)) throw error;
      stays = true;
      const told = await keep(begun, error);
      stays = existsSync(path);
      throw told;
    }
  } finally {
    if (!stays) rmSync(folder, { recursive: true, force: true });
    saved();
  }
}

/** Null where an editor has removed the file. */
function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

/** Lets the person change a file; answers when the editor ends. `instead` is what may be done without one. */
export async function openEditor(file: string, instead: string): Promise<void> {
  const { env } = runtime();
  const chosen = env.VISUAL || env.EDITOR;
  // One that was chosen may open a window, or be a script. vi would wait for keys that nobody can press.
  if (!chosen && !(process.stdin.isTTY && process.stderr.isTTY))
    throw new Failure('editor_failed', 'No editor is chosen, and vi needs a terminal, so nothing was changed.', {
      hint: otherwise(instead),
    });
  const editor = chosen || 'vi';
  const ended = undoAtExit(() => show(process.stderr, `Your text is still here: ${file}\n`));
  // Standard output is the result's.
  const child = inForeground(`${editor} "$1"`, [file], { stdio: ['inherit', 2, 2] });
  const status = await new Promise((resolve) => child.on('error', resolve).on('close', resolve));
  ended();
  if (status !== 0) throw failed(editor, instead);
}

const failed = (editor: string, instead: string): Failure =>
  new Failure('editor_failed', `The editor ${editor} could not be run or gave up, so nothing was changed.`, {
    hint: otherwise(instead),
  });

const otherwise = (instead: string): string => `Set EDITOR, or ${instead}`;
