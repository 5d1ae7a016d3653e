/** Handles SIGINT and SIGTERM: they end the run, unless a stream or a server sets another handler. */
import { outputFailure } from './errors.ts';
import { EXIT } from './exit.ts';

type EndSignal = 'SIGINT' | 'SIGTERM';
type Handler = (signal: EndSignal) => void;

/** The exit code of a run that a signal ended. */
export const exitAfter = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;

const leave: Handler = (signal) => process.exit(exitAfter[signal]);
let onInterrupt = leave;
let onTerminate = leave;

/** Takes charge of Ctrl-C, SIGTERM and a reader that went away. */
export function installSignals(): void {
  process.on('SIGINT', () => onInterrupt('SIGINT'));
  process.on('SIGTERM', () => onTerminate('SIGTERM'));
  // The reader of our output has closed it: that is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done);
    throw outputFailure(error);
  });
  // Notes that nobody can read are no reason to fail.
  process.stderr.on('error', () => {});
}

/** Replaces what Ctrl-C does. @returns what puts it back */
export function interruptWith(handler: Handler): () => void {
  const before = onInterrupt;
  onInterrupt = handler;
  return () => {
    onInterrupt = before;
  };
}

/** Replaces what Ctrl-C and SIGTERM do. */
export function endWith(handler: Handler): void {
  onInterrupt = handler;
  onTerminate = handler;
}
