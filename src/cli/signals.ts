/** Ends a run early: SIGINT, SIGTERM and SIGHUP, unless a stream or a server handles them, and what is undone at any exit. */
import { EXIT, outputFailure } from './errors.ts';

type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
type Handler = (signal: EndSignal) => void;

/** The exit code of a run that a signal ended. */
export const exitAfter = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp } as const;

const leave: Handler = (signal) => process.exit(exitAfter[signal]);
let onInterrupt = leave;
let onTerminate = leave;

/** Takes charge of Ctrl-C, SIGTERM, a closed terminal and a reader that went away. */
export function installSignals(): void {
  process.on('SIGINT', () => onInterrupt('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => onTerminate(signal));
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

/** Replaces what Ctrl-C, SIGTERM and a closed terminal do. */
export function endWith(handler: Handler): void {
  onInterrupt = handler;
  onTerminate = handler;
}

const undone = new Set<() => void>();
let watching = false;

/**
 * Undoes something, such as a temporary file, if the program ends before that is no longer needed.
 * @param undo cannot wait for anything.
 * @returns what to call once there is nothing to undo any more.
 */
export function undoAtExit(undo: () => void): () => void {
  if (!watching) process.once('exit', undoAll);
  watching = true;
  undone.add(undo);
  return () => undone.delete(undo);
}

function undoAll(): void {
  for (const undo of undone) {
    try {
      undo();
    } catch {
      // The others are tried all the same.
    }
  }
}
