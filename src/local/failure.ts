/** A refusal made on this machine: a code of the command line's own list, said like the server says its own. */

export interface FailureOptions {
  hint?: string;
  details?: Record<string, unknown>;
  next?: { command: string; resume?: string };
  /** Set where the exit code does not follow from the code. */
  exit?: number;
}

export class Failure extends Error {
  readonly code: string;
  readonly hint: string;
  readonly details: Record<string, unknown> | undefined;
  readonly next: { command: string; resume?: string } | undefined;
  readonly exit: number | undefined;

  constructor(code: string, message: string, options: FailureOptions = {}) {
    super(message);
    this.name = 'Failure';
    this.code = code;
    this.hint = options.hint ?? '';
    this.details = options.details;
    this.next = options.next;
    this.exit = options.exit;
  }
}

/** A command line that has to change: always exit 2. */
export function usage(message: string, hint = ''): Failure {
  return new Failure('invalid_request', message, { hint, exit: 2 });
}

/** Stands for the usage line of the command, which only the command knows. */
export const USAGE = 'usage';

/** A command line that lacks something: its hint says how the command is used. */
export const lacking = (message: string): Failure => usage(message, USAGE);

/** The error, with a hint where it has none of its own. @param usage how the command is used, for an error that is about it */
export function hinted(error: unknown, help: string, usage = help): unknown {
  if (!(error instanceof Failure) || (error.hint !== '' && error.hint !== USAGE)) return error;
  const hint = error.hint === USAGE ? usage : help;
  const { code, message, details, next, exit } = error;
  return new Failure(code, message, {
    hint,
    ...(details ? { details } : {}),
    ...(next ? { next } : {}),
    ...(exit === undefined ? {} : { exit }),
  });
}
