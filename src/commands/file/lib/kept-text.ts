/** What was typed into an editor and could not be saved stays in a file. */
import { copyFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { asProblem, Exit } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { Failure } from '../../../local/failure.ts';

/** Moves an edited text into the current folder, as `charter.edited-mfg3k2x.md`; where that fails, it stays where it is. */
export function keepText(path: string, stem: string, ending: string): string {
  const copy = resolve(`${stem}.edited-${Date.now().toString(36)}${ending}`);
  try {
    copyFileSync(path, copy);
    rmSync(path);
    return copy;
  } catch {
    return path;
  }
}

export type Problem = ReturnType<typeof asProblem>['body']['error'];

interface Kept {
  path: string;
  /** The command that goes on with the copy. */
  line: string;
  out: Output;
  /** The hint in place of the problem's own; null: that one stays. */
  hintOf(problem: Problem): string | null;
}

/** What ended a command, with the place of the text. */
export function withCopy(error: unknown, { path, line, out, hintOf }: Kept): unknown {
  if (error instanceof Exit) {
    out.note(`Your text is now ${path}. To go on: ${line}`);
    return error;
  }
  const { body, exit } = asProblem(error);
  const { code, message, hint, details } = body.error;
  return new Failure(code, `${message} Your text is now ${path}.`, {
    hint: hintOf(body.error) ?? hint,
    details: { ...details, path },
    exit,
  });
}
