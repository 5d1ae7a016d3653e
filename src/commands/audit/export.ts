import { z } from 'zod';
import { BaseCommand, booleanFlag, required } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import { count, object, seq, text } from '../../cli/shapes.ts';
import { exportRecord, verifyRecord, verifyText } from './lib/record.ts';

export const json = () => object({ path: text, events: count, head: z.strictObject({ seq, hash: text }).nullable() });

export default class AuditExport extends BaseCommand<typeof AuditExport> {
  static override summary = "Write a board's whole record to a file";
  static override description =
    'One event per line, exactly as the server gives them: what a third party needs to check the record without trusting\nanybody. "-" writes to standard output.';
  static override examples = [
    'service audit export general.ndjson --board general',
    'service audit export - | head -n 1',
  ];
  static override seeAlso = ['audit verify'];
  static override args = { path: required('File to write, or -') };
  static override flags = { verify: booleanFlag('Check the record first') };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    if (this.flags.verify) {
      const checked = await verifyRecord(session);
      this.out.note(verifyText(session, checked));
      if (!checked.ok) throw new Exit(EXIT.checkFailed);
    }
    const result = await exportRecord(session, this.args.path);
    if (this.args.path === '-') return;
    this.print<typeof json>(result, () => `Wrote ${result.events} events of ${session.board} to ${result.path}.`);
  }
}
