/** Journal writes that delivery can do without. */
import { JournalError } from '../journal/journal.ts';
import type { Log } from '../log.ts';

/** Writes a note; a journal that does not take it is logged and nothing else. */
export function writeOrLog({ log }: { log: Log }, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    log.write('journal_error', {}, 'error');
  }
}
