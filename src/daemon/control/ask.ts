/** Requests and answers on an open connection. */
import type { Answers, ErrorFrame, RequestFields, StatusAnswer } from '../protocol.ts';
import { socketPath } from './address.ts';
import { type Connection, type Frame, openConnection } from './connection.ts';
import { DaemonError } from './errors.ts';
import { ANSWER_TIMEOUT_MS, type RequestVerb } from './limits.ts';

/** Sends a request on an open connection. @throws DaemonError with the refusal's code, or `request_timeout` */
export async function ask<Verb extends RequestVerb>(
  connection: Connection,
  verb: Verb,
  fields: RequestFields[Verb],
  ms: number = ANSWER_TIMEOUT_MS[verb],
): Promise<Answers[Verb]> {
  await connection.send({ op: verb, ...fields });
  return (await readAnswer(connection, ms)) as Answers[Verb];
}

/** The next frame; null if the connection is closed, or after `ms`. @throws DaemonError for an error frame */
export async function nextFrame(connection: Connection, ms?: number): Promise<Frame | null> {
  const frame = await connection.next(ms);
  if (frame?.error) throw toDaemonError(frame.error as ErrorFrame);
  return frame;
}

/** Confirms that a text was received, and waits until the daemon has recorded that; false if it could not. */
export async function confirmReceived(connection: Connection, handoffId: string): Promise<boolean> {
  try {
    await connection.send({ op: 'received', handoff_id: handoffId });
    return (await nextFrame(connection, 2_000))?.event === 'ok';
  } catch {
    return false;
  }
}

async function readAnswer(connection: Connection, ms: number): Promise<Frame> {
  const frame = await nextFrame(connection, ms);
  if (frame?.event === 'bye') throw stoppedError(frame.restart === true);
  if (frame === null && connection.isClosed) throw stoppedError(true);
  if (frame) return frame;
  throw new DaemonError('request_timeout', `The delivery daemon did not answer within ${ms / 1000} seconds.`, {
    hint: 'service doctor',
  });
}

/** @param restart whether another daemon follows, as after a crash or for an upgrade */
const stoppedError = (restart: boolean): DaemonError =>
  new DaemonError('daemon_stopping', 'The delivery daemon went away before it answered.', {
    hint: 'Run the command again',
    details: restart ? { restart } : undefined,
  });

/** Whether the daemon stopped before it answered and no other one follows. */
export const isStopped = (error: unknown): boolean =>
  error instanceof DaemonError && error.code === 'daemon_stopping' && !error.details?.restart;

/** Whether the daemon stopped before it answered and another one follows, so that the request can be repeated. */
export function isReplaced(error: unknown): boolean {
  if (!(error instanceof DaemonError)) return false;
  return error.code === 'daemon_not_running' || (error.code === 'daemon_stopping' && error.details?.restart === true);
}

function toDaemonError({ code, message, hint, details }: ErrorFrame): DaemonError {
  return new DaemonError(code, message ?? '', { hint, details });
}

/** The status of the running daemon, requested on a separate connection. */
export async function daemonStatus(state: string): Promise<StatusAnswer> {
  const connection = await openConnection(socketPath(state));
  try {
    return await ask(connection, 'status', {});
  } finally {
    connection.close();
  }
}
