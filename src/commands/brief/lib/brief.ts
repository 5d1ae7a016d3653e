/** Resolves the version of the brief to read or replace. */
import { called, runtime } from '../../../cli/runtime.ts';
import { staying, stayingAt } from '../../../cli/session/open-session.ts';
import { isBriefPath } from '../../../contract/ids.ts';
import type { Brief } from '../../../contract/types.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { type Remembered, rememberedAs } from '../../../local/remembered-files.ts';
import { briefName } from '../../file/lib/options.ts';
import type { PutQuery } from '../../file/lib/put.ts';
import { type Files, notedAt } from '../../file/lib/scope.ts';

/** @throws Failure `file_not_found` where the board has none, `not_on_board` where the reader is not told. */
export function requireBrief({ board, session }: Files): Brief {
  if (board.brief) return board.brief;
  if (board.brief === undefined)
    throw new Failure('not_on_board', `You are not on the board ${board.name}.`, {
      hint: called(`It is open: service board add me --board ${board.name}${stayingAt(session)}`),
    });
  const on = { ...session, choice: { ...session.choice, board: session.board } };
  throw new Failure('file_not_found', `${board.name} has no brief.`, {
    hint: called(`Write one: service brief put brief.md${staying(on)}`),
  });
}

/**
 * What was got or put here last: at this path, else anywhere. Where the board's brief is in the other format than what is
 * remembered of this path, the last of any path counts. Never what is on the board just now.
 */
function lastSeen(files: Files, path: string): Remembered | null {
  const here = notedAt(files, path);
  const otherFormat = here && files.board.brief && files.board.brief.name !== here.name;
  return here && isBriefPath(here.name) && !otherFormat
    ? here
    : rememberedAs(runtime().folders, files.scope, isBriefPath);
}

/**
 * What a brief is put as, and the digest of what it replaces where that tells whether anything changed.
 * @throws usage for a base without anything that was got, and for a file that is no brief.
 */
export function briefQuery(
  files: Files,
  path: string,
  { base, replaceFormat }: { base: number | undefined; replaceFormat: boolean },
): { query: PutQuery; digest: string | null } {
  const seen = base === 0 ? null : lastSeen(files, path);
  if (base && !seen)
    throw usage('--base says which version is replaced, but no brief of this board was got here.', 'service brief get');
  const replaced = seen ? { base: base ?? seen.version, file_id: seen.file_id } : {};
  const name = briefName(path);
  return {
    query: { name, brief: true, ...replaced, ...(replaceFormat ? { replace_format: true } : {}) },
    digest: seen?.name === name && base === undefined ? seen.digest : null,
  };
}
