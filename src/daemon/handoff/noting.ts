/** Writes that are nice to have. */
import type { Core } from '../core.ts';
import { JournalError } from '../journal/types.ts';

/** For notes without which delivery goes on all the same. */
export function noting(core: Core, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    core.log.write('journal_error', {}, 'error');
  }
}
