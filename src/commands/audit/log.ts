import { BaseCommand, limitFlag, listFlag, listFlags, numberFlag, stringFlag } from '../../cli/base.ts';
import { usage } from '../../local/failure.ts';
import { eventsText, readLog, wholeLog } from './lib/record.ts';
import { log } from './lib/shapes.ts';

export const json = () => log;

export default class AuditLog extends BaseCommand<typeof AuditLog> {
  static override boardFirst = true;
  static override summary = "Show the events of a board's record";
  static override description =
    'The newest ones by default; with --after, those that follow a number. With --ndjson all of them, unless --limit says\nhow many.';
  static override examples = [
    'service audit log --board general',
    'service audit log --after 20 --type message.posted --ndjson',
  ];
  static override seeAlso = ['audit verify', 'audit export'];
  static override flags = {
    after: numberFlag('Only events after this one'),
    type: listFlag({ helpValue: 'TYPE', description: 'Only events of these types' }),
    actor: stringFlag('NAME', 'Only events of this member'),
    limit: limitFlag(),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const odd = this.flags.type?.find((type) => !/^[a-z_]{1,40}\.[a-z_]{1,40}$/.test(type));
    if (odd !== undefined) throw usage(`--type takes the types of events, such as message.posted, but got "${odd}".`);
    const session = await this.onBoard('A');
    if (this.out.mode === 'ndjson' && this.flags.limit === undefined) {
      for await (const event of wholeLog(session, this.flags)) this.out.each(event);
      return;
    }
    const page = await readLog(session, this.flags);
    if (this.out.listed(page.events)) return;
    const text = await eventsText(session, page, this.flags, this.times);
    this.print<typeof json>(page, () => text);
  }
}
