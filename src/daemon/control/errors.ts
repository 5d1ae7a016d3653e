/** Refusals of the daemon, on both ends of the socket, and errors of reaching it. */
import { Failure, type FailureOptions } from '../../local/failure.ts';

/** A refusal of the daemon as it came over the socket, or one the client makes in its place. */
export class DaemonError extends Failure {
  constructor(code: string, message: string, options: FailureOptions = {}) {
    super(code, message, options);
    this.name = 'DaemonError';
  }
}

/** What the daemon refuses, as it goes over the socket. */
export class ControlRefusal extends Failure {}

/** Whether the daemon does not run: the one case in which a client may start it. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof DaemonError && error.code === 'daemon_not_running';

export const notRunning = (): DaemonError =>
  new DaemonError('daemon_not_running', 'The delivery daemon of this machine does not run.', {
    hint: 'service daemon start',
  });
