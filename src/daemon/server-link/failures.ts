/** What a refusal or a broken connection means for the seat that asked. */
import { ClientError } from '../../client/errors.ts';
import { Failure } from '../../local/failure.ts';
import { SeatFailure } from './link.ts';

/** What a failed request of a seat is to the rest of the daemon. */
export function seatFailure(error: unknown): SeatFailure {
  if (error instanceof SeatFailure) return error;
  if (error instanceof Failure) return new SeatFailure(error.code, error.message);
  if (!(error instanceof ClientError)) throw error;
  if (error.status === 401) return new SeatFailure('unauthorized', error.message, 'unauthorized');
  if (error.code === 'agent_removed') return new SeatFailure('agent_removed', error.message, 'agent_removed');
  if (error.code === 'board_not_found') return new SeatFailure('board_not_found', error.message, 'board_gone');
  return new SeatFailure(error.code, error.message);
}

/** Whether a failure says nothing about the request, so that it may be made again later. */
export const isPassing = (error: unknown): error is ClientError & { transient: true } =>
  error instanceof ClientError && error.transient;

/** Whether it speaks of a server that does not work or is not reached, rather than of one that asks for patience. */
export const isOutage = (error: unknown): boolean =>
  isPassing(error) && error.status !== 429 && error.code !== 'idempotency_in_progress';
