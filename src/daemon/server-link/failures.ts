/** Classifies failed requests of seats. */
import { ClientError } from '../../client/errors.ts';
import { Failure } from '../../local/failure.ts';
import { SeatFailure } from './link.ts';

/** Converts the error of a seat's request. Throws errors that are not of a request. */
export function seatFailure(error: unknown): SeatFailure {
  if (error instanceof SeatFailure) return error;
  // This machine's files may be mended.
  if (error instanceof Failure) return new SeatFailure(error.code, error.message, undefined, true);
  if (!(error instanceof ClientError)) throw error;
  if (error.status === 401) return new SeatFailure('unauthorized', error.message, 'unauthorized');
  if (error.code === 'agent_removed') return new SeatFailure('agent_removed', error.message, 'agent_removed');
  if (error.code === 'board_not_found') return new SeatFailure('board_not_found', error.message, 'board_gone');
  return new SeatFailure(error.code, error.message, undefined, error.transient);
}

/** Whether a failure is temporary, so that the request can be retried. */
export const isTransient = (error: unknown): error is ClientError & { transient: true } =>
  error instanceof ClientError && error.transient;

/** Whether the server fails or is unreachable; not if it only asks to wait. */
export const isOutage = (error: unknown): boolean =>
  isTransient(error) && error.status !== 429 && error.code !== 'idempotency_in_progress';
