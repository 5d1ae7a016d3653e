/** Reports every error in one shape, whether it comes from a server, this program or the flag parser. */

import type { ClientError } from '../client/errors.ts';
import { type ErrorBody, errors } from '../contract/errors.ts';
import { ANY_REQUEST } from '../contract/openapi/problems.ts';
import { Failure, withHint } from '../local/failure.ts';
import type { Output } from './output.ts';
import { called, calledNext, isDone } from './runtime.ts';
import { show } from './terminal/terminal.ts';

interface Problem {
  body: ErrorBody & { error: { next?: { command: string; resume?: string } } };
  exit: number;
  requestId?: string | undefined;
  stack?: string | undefined;
  /** A server's words, which must not have lines that read as ours. */
  foreign?: boolean;
}

/** Ends the work without an error text: the answer was already given. */
export class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super('exit');
    this.code = code;
  }
}

/** The end of a check that found something: what it found was printed, unless nothing was to be. */
export function checkFailed({ quiet }: Output, message: string): Error {
  if (!quiet) return new Exit(EXIT.checkFailed);
  return new Failure('check_failed', message, { hint: 'Run it without --quiet to see what was found' });
}

/** Any thrown thing as a problem of the contract's shape. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Failure) {
    const { status } = errors[error.code as keyof typeof errors] ?? {};
    return { body: bodyOf(error), exit: error.exit ?? exitCode(error.code, status) };
  }
  if (isClientError(error)) {
    const { code, status, requestId } = error;
    return { body: bodyOf(error), exit: exitCode(code, status), requestId, foreign: true };
  }
  const known = error instanceof Error ? error : new Error(String(error));
  const unwritable = asUnwritable(known);
  if (unwritable) return asProblem(unwritable);
  const { message, stack } = known;
  const told = isDone()
    ? {
        message: `${message.replace(/\.$/, '')}. What was done until then stands.`,
        hint: 'Look at what is there before you run it again. With SERVICE_DEBUG=1 it says more',
      }
    : { message, hint: 'Run it again with SERVICE_DEBUG=1 to see more.' };
  return { body: { error: { code: 'internal', ...told } }, exit: EXIT.other, stack };
}

function bodyOf({ code, message, hint, details, next }: Failure | ClientError): Problem['body'] {
  const more = { ...(next ? { next: calledNext(next) as never } : {}), ...(details ? { details } : {}) };
  return { error: { code, message, hint: called(hint), ...more } };
}

/** A failure after something that stays was done: it says so. @param done what that was, for `details` */
export function failedAfter(error: unknown, said: string, done: Record<string, unknown>): unknown {
  if (!(error instanceof Failure) && !isClientError(error)) return error;
  hintIfMayBeDone(error);
  const { body, exit } = asProblem(error);
  const { code, message, hint, details } = body.error;
  return new Failure(code, `${message} ${said}`, { hint, exit, details: { ...details, ...done } });
}

/**
 * The error as the user of the command needs it.
 *
 * @param help the command that shows what this one takes.
 * @param usage how this one is typed.
 * @param keyed whether it takes --idempotency-key; nothing is done twice by the others.
 */
export function forCommand(error: unknown, help: string, usage = help, keyed = true): unknown {
  if (isClientError(error) && error.hint === ANY_REQUEST) Object.assign(error, { hint: help });
  if (keyed) hintIfMayBeDone(error);
  return withHint(error, help, usage);
}

/**
 * A failure to write a file for which another SERVICE_HOME is no way out.
 * @param said what was done, or was not @param then what comes after the mending
 */
export function unsaved(error: unknown, said: string, then = ''): unknown {
  const known = error instanceof Failure ? error : error instanceof Error ? asUnwritable(error, '') : null;
  if (!known) return error;
  const { code, message, hint, details, exit } = known;
  return new Failure(code, `${message} ${said}`, { hint: [hint, then].filter(Boolean).join('; then '), details, exit });
}

function hintIfMayBeDone(error: unknown): void {
  // A server of this machine that does not run is to be started first.
  if (!isClientError(error) || !error.mayBeDone || error.code === 'server_not_running') return;
  const hint = 'It may have been done: look at what is there before you run it again.';
  Object.assign(error, { hint: `${hint} With one --idempotency-key it is done once, however often it runs` });
}

/** Says of a kept refusal, which may not hold any more, how to try anew. @param how what to give for it */
export function hintIfReplayed(error: unknown, how: string): void {
  if (!isClientError(error) || !error.replayed) return;
  const hint = error.hint && `${error.hint.replace(/\.$/, '')}. `;
  Object.assign(error, { hint: `${hint}This is the kept answer of the first try; to try anew, give ${how}` });
}

/** Says where one sees what became of a write whose answer was lost. @param hint with the command that shows it */
export const lost =
  (hint: string) =>
  (error: unknown): never => {
    throw isClientError(error) && error.code === 'outcome_unknown' ? Object.assign(error, { hint }) : error;
  };

/** Why a file or folder of ours cannot be used, and what would mend it. */
export const diskReasons: Record<string, [reason: string, fix: string]> = {
  EACCES: ['permission is denied', 'Make it writable'],
  EPERM: ['permission is denied', 'Make it writable'],
  ENOENT: ['no folder can be made there', 'Make it'],
  EROFS: ['the file system is read-only', 'Make it writable'],
  ENOSPC: ['the disk is full', 'Free some space'],
  EDQUOT: ['the disk is full', 'Free some space'],
  ENOTDIR: ['a file stands where a folder should be', 'Move that file away'],
  EEXIST: ['a file stands where a folder should be', 'Move that file away'],
};

/** What keeps this program from writing its own files is for the person to change. */
function asUnwritable(
  { code, path, syscall }: NodeJS.ErrnoException,
  otherwise = ', or set SERVICE_HOME to a folder elsewhere',
): Failure | null {
  if (syscall === 'uv_cwd')
    return new Failure('folder_unwritable', 'The folder that this runs in is gone.', {
      hint: 'Change into another one, such as: cd ~',
    });
  const known = diskReasons[code ?? ''];
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  // A write to an open file does not say to which.
  if (known === undefined || (path === undefined && !full) || (code === 'ENOENT' && syscall !== 'mkdir')) return null;
  const [reason, fix] = known;
  return new Failure('folder_unwritable', `${path ?? 'A file'} cannot be used: ${reason}.`, {
    hint: fix + otherwise,
  });
}

/** What could not be shown. A change that was acknowledged stands, and is not to be taken for one that failed. */
export function outputFailure({ code, message }: NodeJS.ErrnoException): Failure {
  const what = `Standard output could not be written: ${diskReasons[code ?? '']?.[0] ?? message}.`;
  if (!isDone()) return new Failure('output_failed', what, { hint: 'Send it to a place where there is room' });
  return new Failure('output_lost', `${what} What the command did stands.`, {
    hint: 'Look at what is there before you run it again',
  });
}

/** Prints a problem where the mode wants it and gives the exit code. */
export function report(error: unknown, out: Output, verbose = false): number {
  if (error instanceof Exit) return error.code;
  const problem = asProblem(error);
  const unheard = problem.body.error.code.startsWith('output_');
  if (out.errorAside || unheard) show(process.stderr, `${errorText(problem, out, verbose)}\n`);
  else out.printError(problem.body);
  return problem.exit;
}

/** `Error (code): message`, the hint, the next command, and what a look behind the scenes was asked for. */
function errorText({ body, requestId, stack, foreign }: Problem, out: Output, verbose: boolean): string {
  const { code, message, hint, next, details } = body.error;
  const said = (text: unknown) => (foreign ? String(text).replaceAll(/[\n\u2028\u2029]+/g, ' ') : text);
  const lines = [`${out.errorPaint.red(`Error (${said(code)}):`)} ${said(message)}`];
  if (Array.isArray(details?.lines)) lines.push(...details.lines.map((line) => `    ${said(line)}`));
  if (hint) lines.push(`Hint: ${said(hint)}`);
  if (next?.command) lines.push(`Next: ${next.command}`);
  // Its hint speaks of the log, where it is found by this.
  if (requestId && (verbose || code === 'internal')) lines.push(`Request: ${requestId}`);
  if (stack && process.env.SERVICE_DEBUG === '1') lines.push(stack);
  return lines.join('\n');
}

/** Told by name, so that printing an error does not load the client. */
function isClientError(error: unknown): error is ClientError {
  return error instanceof Error && error.name === 'ClientError';
}

/** Exit codes: an error's own code decides first, then the HTTP status. */
export const EXIT = {
  done: 0,
  other: 1,
  usage: 2,
  checkFailed: 3,
  notSignedIn: 4,
  refused: 5,
  notThere: 6,
  conflict: 7,
  noAnswer: 8,
  /** Done, and the result could not be shown: never a reason to do it again. */
  outputLost: 9,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

const byCode: Record<string, number> = {
  confirmation_required: EXIT.usage,
  body_empty: EXIT.usage,
  agent_on_another_server: EXIT.usage,
  session_on_another_server: EXIT.usage,
  invite_link_invalid: EXIT.usage,
  join_line_invalid: EXIT.usage,
  check_failed: EXIT.checkFailed,
  output_lost: EXIT.outputLost,
  login_required: EXIT.notSignedIn,
  key_invalid: EXIT.notSignedIn,
  agent_removed: EXIT.notSignedIn,
  human_command_in_session: EXIT.refused,
  subagent_without_seat: EXIT.refused,
  project_unsafe: EXIT.refused,
  idempotency_conflict: EXIT.conflict,
  merge_conflict: EXIT.conflict,
  stale: EXIT.conflict,
  server_unreachable: EXIT.noAnswer,
  server_not_running: EXIT.noAnswer,
  request_timeout: EXIT.noAnswer,
  outcome_unknown: EXIT.noAnswer,
  sandbox_blocks_network: EXIT.noAnswer,
};

/** The exit code of an error; `status` is the answer's, where a server answered. */
export function exitCode(code: string, status?: number): number {
  const known = byCode[code];
  if (known !== undefined) return known;
  if (/_(not_selected|ambiguous)$/.test(code)) return EXIT.usage;
  if (code.startsWith('keychain_')) return EXIT.notSignedIn;
  if (status === undefined) return EXIT.other;
  const exit = byStatus(status);
  // What another program says is not there, or refuses, is none of ours.
  return code === 'server_unexpected' && exit !== EXIT.noAnswer ? EXIT.other : exit;
}

function byStatus(status: number): number {
  if (status === 401) return EXIT.notSignedIn;
  if (status === 403) return EXIT.refused;
  if (status === 404) return EXIT.notThere;
  if (status === 409) return EXIT.conflict;
  if (status === 408 || status === 429 || (status >= 500 && status !== 507)) return EXIT.noAnswer;
  return EXIT.other;
}
