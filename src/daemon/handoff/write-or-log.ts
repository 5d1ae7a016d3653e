/** Optional journal writes. */
import { JournalError } from '../journal/journal.ts';
import type { Log } from '../log.ts';

/** Runs a journal write that delivery does not depend on: a JournalError is logged and ignored. */
export function writeOrLog({ log }: { log: Log }, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    log.write('journal_error', {}, 'error');
  }
}
