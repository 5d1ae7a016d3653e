/** Requests and answers on an open connection. */
import type { Answers, ErrorFrame, RequestFields, StatusAnswer } from '../protocol.ts';
import { socketPath } from './address.ts';
import { type Connection, type Frame, openConnection } from './connection.ts';
import { DaemonError } from './errors.ts';
import { ANSWER_TIMEOUT_MS, type RequestVerb } from './limits.ts';

/** Asks on a connection that is open. A refusal is thrown with its code; no answer in time is `request_timeout`. */
export async function ask<Verb extends RequestVerb>(
  connection: Connection,
  verb: Verb,
  fields: RequestFields[Verb],
  ms: number = ANSWER_TIMEOUT_MS[verb],
): Promise<Answers[Verb]> {
  await connection.send({ op: verb, ...fields });
  return (await readAnswer(connection, ms)) as Answers[Verb];
}

/** The next frame that is no error; null when the connection is over, or after `ms`. */
export async function nextFrame(connection: Connection, ms?: number): Promise<Frame | null> {
  const frame = await connection.next(ms);
  if (frame?.error) throw toDaemonError(frame.error as ErrorFrame);
  return frame;
}

/** Says that a text was taken, and waits until the daemon has written that down; false when it could not. */
export async function confirmReceived(connection: Connection, handoffId: string, ms = 2_000): Promise<boolean> {
  try {
    await connection.send({ op: 'received', handoff_id: handoffId });
    return (await nextFrame(connection, ms))?.event === 'ok';
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
    hint: 'service daemon status',
  });
}

/** @param restart whether another one comes, as after a crash or for an upgrade. */
const stoppedError = (restart: boolean): DaemonError =>
  new DaemonError('daemon_stopping', 'The delivery daemon went away before it answered.', {
    hint: 'Run the command again',
    ...(restart ? { details: { restart } } : {}),
  });

/** Whether the daemon went away before it answered, and another one comes: the same may be asked once more. */
export function isReplaced(error: unknown): boolean {
  if (!(error instanceof DaemonError)) return false;
  return error.code === 'daemon_not_running' || (error.code === 'daemon_stopping' && error.details?.restart === true);
}

function toDaemonError({ code, message, hint, details }: ErrorFrame): DaemonError {
  return new DaemonError(code, message ?? '', { hint: hint ?? '', ...(details ? { details } : {}) });
}

/** What the running daemon says of itself; the connection is one of its own. */
export async function daemonStatus(state: string): Promise<StatusAnswer> {
  const connection = await openConnection(socketPath(state));
  try {
    return await ask(connection, 'status', {});
  } finally {
    connection.close();
  }
}
