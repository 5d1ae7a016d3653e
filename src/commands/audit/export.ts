import { closeSync, lstatSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { BaseCommand, booleanFlag, required } from '../../cli/base.ts';
import { patiently } from '../../cli/list.ts';
import type { BoardSession } from '../../cli/session/open-session.ts';
import { count, object, seq, text } from '../../cli/shapes.ts';
import { undoAtExit } from '../../cli/signals.ts';
import { reasonOf } from '../../cli/stdin.ts';
import { plural } from '../../cli/terminal/fields.ts';
import { showData } from '../../cli/terminal/terminal.ts';
import type { Repeat } from '../../client/pages.ts';
import { eventPages } from '../../client/verify.ts';
import type { BoardEvent } from '../../contract/types.ts';
import { Failure, usage } from '../../local/failure.ts';
import { draftOf } from '../../local/private-file.ts';
import { unwritable } from '../file/lib/get.ts';
import { verifyRecord, verifyText } from './lib/record.ts';

export const json = () => object({ path: text, events: count, head: z.strictObject({ seq, hash: text }).nullable() });

export default class AuditExport extends BaseCommand<typeof AuditExport> {
  static override loops = true;
  static override summary = "Write a board's whole record to a file";
  static override description =
    'One event per line, exactly as the server gives them: what a third party needs to check the record without trusting\nanybody; service openapi says at listEvents how the hashes are made. "-" writes to standard output.';
  static override examples = [
    'service audit export general.ndjson --board general',
    'service audit export - | head -n 1',
  ];
  static override seeAlso = ['audit verify'];
  static override args = { path: required('File to write, or -') };
  static override flags = { verify: booleanFlag('Write only what passes the check of audit verify') };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const result = await exportRecord(this.args.path, (write) => this.record(session, write));
    if (this.args.path === '-') return;
    this.print<typeof json>(result, () => `Wrote ${result.events} events of ${session.board} to ${result.path}.`);
  }

  /** Reads the record once, and hands on each of its events: with --verify those that passed, up to the first that does not. */
  private async record(session: BoardSession, write: (line: string) => void): Promise<Written> {
    let withheld = 0;
    const onEvent = (event: BoardEvent) => {
      if (event.data_withheld) withheld++;
      write(`${JSON.stringify(event)}\n`);
    };
    if (!this.flags.verify) {
      const written = await readEvents(session, patiently(this.out), onEvent);
      const of = plural(withheld, 'event', 'events');
      const hint = 'A person on the board can export all of it';
      if (withheld > 0) this.out.warn('data_withheld', `The data of ${of} is withheld: you may not read it.`, hint);
      return written;
    }
    const checked = await verifyRecord(session, this.out, { onEvent });
    const found = verifyText(session, checked);
    if (!checked.ok) throw new Failure('check_failed', found);
    this.out.note(found);
    const { events, head_seq, head_hash } = checked;
    return { events, head: head_seq === null || head_hash === null ? null : { seq: head_seq, hash: head_hash } };
  }
}

interface Written {
  events: number;
  head: { seq: number; hash: string } | null;
}

/** Writes every event as a line of its own; a file appears whole or not at all, and takes the place of no other. */
async function exportRecord(path: string, record: (write: (line: string) => void) => Promise<Written>) {
  if (path === '-') return { path, ...(await record(showData)) };
  const target = resolve(path);
  // Told before a long record is fetched; decided when it takes its name.
  if (lstatSync(target, { throwIfNoEntry: false })) throw exists(path);
  const draft = draftOf(target);
  const fd = openDraft(draft, path);
  const whole = undoAtExit(() => rmSync(draft, { force: true }));
  try {
    const written = await record((line) => writeFileSync(fd, line));
    // Takes the name, unless another file has it by now.
    closeSync(openSync(target, 'wx', 0o600));
    renameSync(draft, target);
    return { path: target, ...written };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? exists(path) : unwritable(error, path);
  } finally {
    closeSync(fd);
    rmSync(draft, { force: true });
    whole();
  }
}

const exists = (path: string) =>
  new Failure('local_file_exists', `The file ${path} is there already; nothing was written.`, {
    hint: 'Name another file, or move this one away and run service audit export again',
  });

function openDraft(draft: string, path: string): number {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (error) {
    throw usage(`The file ${path} cannot be written: ${reasonOf(error)}.`);
  }
}

async function readEvents(
  { client, board }: BoardSession,
  request: Repeat,
  onEvent: (event: BoardEvent) => void,
): Promise<Written> {
  const written: Written = { events: 0, head: null };
  for await (const page of eventPages(client, board, { after: 0, limit: 200 }, request))
    for (const event of page.events) {
      onEvent(event);
      written.events++;
      written.head = { seq: event.seq, hash: event.hash };
    }
  return written;
}
