/** Converts errors of requests to a server into refusals of a verb. */
import { ClientError } from '../../client/errors.ts';
import { Failure } from '../../local/failure.ts';
import { ControlRefusal } from '../control/errors.ts';
import { SeatFailure } from '../server-link/link.ts';
import type { Environment } from '../server-link/transport.ts';

/** Whether there was no answer, or none that tells the outcome of the request. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof ControlRefusal) return error.code === 'server_unreachable';
  if (!(error instanceof ClientError) || decided.has(error.code)) return false;
  return error.code === 'outcome_unknown' || error.status === undefined || error.status >= 500;
}

/** Codes with a status of 500 or more by which the server says that nothing was done. */
const decided = new Set(['server_outdated', 'storage_full']);

const RETRIES = 3;
const RETRY_MS = 200;

/** Sends the same request again after a pause while its outcome is unknown. */
export async function retryUnreachable<T>({ sleep }: Pick<Environment, 'sleep'>, send: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await send();
    } catch (error) {
      if (retries >= RETRIES || !isUnreachable(error)) throw error;
      await sleep(RETRY_MS * 2 ** retries);
    }
  }
}

export const isRevoked = (error: unknown): boolean =>
  (error instanceof ClientError || error instanceof ControlRefusal) && error.code === 'delegation_revoked';

export async function withRefusals<T>(origin: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asRefusal(error, origin);
  }
}

/** Converts an error; the server's own refusals keep their code and message. */
export function asRefusal(error: unknown, origin: string): unknown {
  if (error instanceof ControlRefusal) return error;
  if (error instanceof SeatFailure) return new ControlRefusal(error.code, error.message, { hint: 'service doctor' });
  if (!(error instanceof ClientError) && !(error instanceof Failure)) return error;
  if (isUnreachable(error)) {
    return new ControlRefusal('server_unreachable', `${origin} cannot be reached.`, {
      hint: 'Check the network and the server, then try again.',
    });
  }
  const { code, message, hint, details } = error;
  return new ControlRefusal(code, message, { hint, details });
}
