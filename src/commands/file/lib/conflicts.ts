/** Explains a conflict between two versions of a file and how to merge them. */
import { EXIT } from '../../../cli/errors.ts';
import { called } from '../../../cli/runtime.ts';
import { showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import { ClientError } from '../../../client/errors.ts';
import type { Actor } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';

/** What is there instead of what a write was to replace. */
type There = {
  version: number;
  by: Actor | null;
  at: string | null;
  file_id: string | null;
  name: string | null;
  removed?: boolean;
};

export const isConflict = (error: unknown): error is ClientError =>
  error instanceof ClientError && ['file_changed', 'file_exists', 'brief_exists'].includes(error.code);

export const thereOf = (error: ClientError): There => error.details as There;

/**
 * @param command what is typed to go on, with the local path. @param base the version that was to be replaced; 0: none.
 * @param piped there is no local file that could be merged.
 */
export function conflict(
  error: ClientError,
  {
    name,
    base,
    command,
    times,
    piped,
  }: { name: string; base: number; command: string; times: TimeStyle; piped: boolean },
): Failure {
  const there = thereOf(error);
  const since = there.by && there.at ? `, written by ${there.by.name} ${showTime(there.at, times)}` : '';
  const yours = base > 0 ? `you replaced v${base}` : 'you have no version of it';
  const { code, details = {} } = error;
  const failure = (message: string, hint: string) =>
    new Failure(code, message, { hint: called(hint), details, exit: EXIT.conflict });
  if (code === 'brief_exists')
    return failure(
      `The brief is ${there.name} v${there.version}${since}.`,
      `${command} --replace-format; or first: service file remove ${there.name}, or service file rename ${there.name} NEW`,
    );
  if (there.file_id === null)
    return failure(`${name} is not on the board; ${yours}.`, `${command} --name ${name} --base 0`);
  if (there.removed)
    return failure(
      `${there.name} was removed at v${there.version}${since}; ${yours}.`,
      'Put it under a new name, or ask who removed it',
    );
  const moved = there.name !== null && there.name !== name ? ` (as ${there.name})` : '';
  const other = piped ? `, or take its place: ${command} --replace` : '';
  return failure(
    `${name}${moved} is at v${there.version}${since}; ${yours}.`,
    base > 0 && !piped
      ? `${command} --merge`
      : `Get it, put your change into it: service file get ${there.name ?? name}${other}`,
  );
}
