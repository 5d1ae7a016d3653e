/** Turns errors into texts for people. */
import { ClientError } from '../../client/errors.ts';

export interface Problem {
  /** The API's error code, or `page_error` for a bug in the page. */
  code: string;
  message: string;
  /** What to do next. May be empty. */
  hint: string;
}

/** The code, message and hint of any thrown value. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ClientError) {
    const { code, message, hint } = error;
    if (code === 'server_unreachable') return { code, message: 'No connection to the server.', hint: 'Try again.' };
    if (code === 'request_timeout') return { code, message: 'The server did not answer in time.', hint: 'Try again.' };
    return { code, message, hint };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'page_error', message, hint: 'Reload the page.' };
}

/** The message and hint of an error in one line. */
export function errorText(error: unknown): string {
  const { message, hint } = toProblem(error);
  return hint ? `${message} ${hint}` : message;
}

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof ClientError && codes.includes(error.code);

/** Whether the request may have taken effect; a retry then needs the same idempotency key. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  !(error instanceof ClientError) ||
  error.delivery !== 'answered' ||
  (error.status ?? 500) >= 500 ||
  error.code === 'idempotency_in_progress';

/** Whether the server says that the session has ended; a proxy may answer 401 too. */
export const endsSession = (error: unknown): boolean =>
  error instanceof ClientError && error.status === 401 && error.code !== 'server_unexpected';
