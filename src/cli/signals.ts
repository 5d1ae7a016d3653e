/** What an interrupt does: by default it ends the run; a stream or a server says otherwise. */
import { outputFailure } from './errors.ts';
import { EXIT } from './exit.ts';

type Handler = () => void;
let onInterrupt: Handler = () => process.exit(EXIT.interrupted);
let onTerminate: Handler = () => process.exit(EXIT.terminated);

/** Takes charge of Ctrl-C, SIGTERM and a reader that went away. */
export function installSignals(): void {
  process.on('SIGINT', () => onInterrupt());
  process.on('SIGTERM', () => onTerminate());
  // Whoever read our output has enough: that is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done);
    throw outputFailure(error);
  });
  // Notes that nobody can read are no reason to fail.
  process.stderr.on('error', () => {});
}

/** Replaces what Ctrl-C does. */
export function interruptWith(handler: Handler): void {
  onInterrupt = handler;
}

/** Replaces what Ctrl-C and SIGTERM do. */
export function endWith(handler: Handler): void {
  onInterrupt = handler;
  onTerminate = handler;
}
