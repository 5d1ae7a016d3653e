/** Checks that the daemon's journal can be read and written. Nothing is delivered without it. */
import { existsSync } from 'node:fs';
import { here } from '../../../cli/session/here.ts';
import { daemonPaths } from '../../../daemon/paths.ts';
import { shellWord } from '../../../harness/setup/entries.ts';
import { type Check, type Finding, failing, fine } from '../lib/check.ts';

export const journal: Check = {
  name: 'journal',
  async run({ folders }) {
    const path = daemonPaths(folders).journal;
    return existsSync(path) ? [await lookAt(path)] : [];
  },
};

async function lookAt(path: string): Promise<Finding> {
  const { probeJournal } = await import('../../../daemon/journal/probe.ts');
  // What a sandbox may not write, the daemon outside of it may.
  const write = here().sandbox === null;
  try {
    if (probeJournal(path, write) === 'newer')
      return failing('journal', 'data_newer', `${path} is of a newer program.`, 'npm install -g board-service');
    return fine('journal', write ? 'can be written' : 'can be read; outside this sandbox it is looked at closer');
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    return failing('journal', 'journal_unwritable', `${path} cannot be written: ${message}.`, fixOf(code, path));
  }
}

/** A damaged journal is put aside by the next start, a full disk is its person's to empty, and the rest is its mode. */
function fixOf(code: string, path: string): string {
  if (/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) return 'service daemon restart';
  if (/^SQLITE_(FULL|IOERR)/.test(code)) return `df -h ${shellWord(path)}`;
  return `chmod 600 ${shellWord(path)}`;
}
