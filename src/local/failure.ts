/** An error that the command line itself raises: it has a code, a message and a hint like those of the server. */

export interface FailureOptions {
  hint?: string;
  details?: Record<string, unknown> | undefined;
  next?: { command: string; resume?: string } | undefined;
  /** Set where the exit code does not follow from the code. */
  exit?: number | undefined;
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

/** A usage error: always exit code 2. */
export function usage(message: string, hint = '', details?: FailureOptions['details']): Failure {
  return new Failure('invalid_request', message, { hint, details, exit: 2 });
}

/** Placeholder for the usage line of the command, which only the command knows. */
const USAGE = 'usage';

/** A usage error for a missing argument or flag: its hint is the usage line. */
export const missingArgument = (message: string): Failure => usage(message, USAGE);

/** Adds a default hint to an error without one. @param usage the usage line, for errors that show it */
export function withHint(error: unknown, help: string, usage = help): unknown {
  if (!(error instanceof Failure) || (error.hint !== '' && error.hint !== USAGE)) return error;
  const hint = error.hint === USAGE ? usage : help;
  const { code, message, details, next, exit } = error;
  return new Failure(code, message, { hint, details, next, exit });
}
