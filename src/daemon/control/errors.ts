/** Refusals of the daemon, on both ends of the socket, and connection errors. */
import { Failure, type FailureOptions } from '../../local/failure.ts';

/** A refusal received from the daemon, or an error of the connection to it. */
export class DaemonError extends Failure {
  constructor(code: string, message: string, options: FailureOptions = {}) {
    super(code, message, options);
    this.name = 'DaemonError';
  }
}

/** A refusal that the daemon sends over the socket. */
export class ControlRefusal extends Failure {}

/** Whether the daemon does not run; only then may a client start it. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof DaemonError && error.code === 'daemon_not_running';

export const notRunning = (): DaemonError =>
  new DaemonError('daemon_not_running', 'The delivery daemon of this machine does not run.', {
    hint: 'service daemon start',
  });
