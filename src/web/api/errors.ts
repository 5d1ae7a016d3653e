/** Errors as a person reads them. */
import { ClientError } from '../../client/errors.ts';

export interface Problem {
  /** The API's code, or `page_error` for a defect of the page. */
  code: string;
  message: string;
  /** What to do next; may be empty. */
  hint: string;
}

/** The message and the hint of what a call was refused with. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ClientError) {
    const { code, message, hint } = error;
    if (code === 'server_unreachable') return { code, message: 'No connection to the server.', hint: 'Try again.' };
    return { code, message, hint };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'page_error', message, hint: 'Reload the page.' };
}

/** The same in one line. */
export function sentenceOf(error: unknown): string {
  const { message, hint } = problemOf(error);
  return hint ? `${message} ${hint}` : message;
}

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof ClientError && codes.includes(error.code);

/** Whether nobody can say that the request took effect: the next try needs the same idempotency key. */
export const isUnsettled = (error: unknown): boolean =>
  error instanceof ClientError && (error.delivery !== 'answered' || error.code === 'idempotency_in_progress');
