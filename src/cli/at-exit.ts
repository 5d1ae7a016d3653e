/** Undoes unfinished work, such as temporary files, when the process exits early, by anything but SIGKILL. */

const undone = new Set<() => void>();
let watching = false;

/**
 * Undoes something if the program ends before that is no longer needed. @param undo cannot wait for anything.
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
