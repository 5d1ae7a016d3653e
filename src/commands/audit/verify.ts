import { BaseCommand, integerFlag, stringFlag } from '../../cli/base.ts';
import { checkFailed } from '../../cli/errors.ts';
import { without } from '../../cli/session/here.ts';
import { verifyRecord, verifyText } from './lib/record.ts';
import { verified } from './lib/shapes.ts';

export const json = () => verified;

export default class AuditVerify extends BaseCommand<typeof AuditVerify> {
  static override boardFirst = true;
  static override readOnly = without('accept');
  static override loops = true;
  static override summary = "Check that a board's record was never changed";
  static override description =
    'Reads all events, recomputes the chain of hashes on this machine, compares it with the end that was found good last\ntime, and remembers the new end. Exit code 3 when anything does not fit, also when another board or server is there\nunder the name of the one that was checked. A board that was made anew or went back to a backup is accepted with the\nline that is printed then.\nWith --from, only what follows that end: as much work as there is new.';
  static override examples = [
    'service audit verify --board general',
    'service audit verify --json',
    'service audit verify --from 1201',
  ];
  static override seeAlso = ['audit log', 'audit export'];
  static override flags = {
    from: integerFlag('N', 'First event to check: the one after the remembered end', { min: 1 }),
    accept: stringFlag('BOARD_ID', 'Take this board as it is now, whatever was checked before'),
  };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const { from: start, accept } = this.flags;
    const result = await verifyRecord(session, this.out, { start, accept });
    this.print<typeof json>(result, () => verifyText(session, result));
    if (!result.ok) throw checkFailed(this.out, verifyText(session, result));
  }
}
