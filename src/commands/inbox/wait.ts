import { z } from 'zod';
import { BaseCommand, optional, waitFlags } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import { sameWords } from '../../cli/list.ts';
import { usage } from '../../local/failure.ts';
import { inboxText, noteTold, readInbox } from './lib/inbox.ts';
import { inboxOfSeats, ofInbox, seatsHere } from './lib/seats.ts';
import { inboxesOfSeats, shownInbox } from './lib/shapes.ts';

export const json = () => z.union([shownInbox, inboxesOfSeats]);

export default class InboxWait extends BaseCommand<typeof InboxWait> {
  static override summary = 'Wait until a message is in the inbox';
  static override description =
    'Shows what came and leaves it unread. A notice ends the wait too, once. A wait that runs out is no error: exit code 0,\nor 3 with --fail-timeout.';
  static override examples = ['service inbox wait --as codex', 'service inbox wait 60 --as codex --fail-timeout'];
  static override seeAlso = ['inbox', 'inbox ack'];
  static override args = { seconds: optional('How long to wait (default 600)') };
  static override flags = waitFlags;

  override async run(): Promise<void> {
    const given = this.args.seconds ?? '600';
    if (!/^\d{1,5}$/.test(given))
      throw usage(`"${given}" is no number of seconds.`, `service inbox wait 600${sameWords(this.globals)}`);
    const wait = Number(given);
    if (wait > 86_400) throw usage('SECONDS takes 0 to 86400 seconds.');
    const reading = { ...this.flags, wait, peek: true, notices: true };
    const seats = await seatsHere(this.globals);
    if (seats.length > 1) return inboxOfSeats(seats, (seat) => this.session('G', { seat }), reading, this.out);
    const session = await ofInbox(await this.session('G'));
    this.out.tagged = true;
    const shown = await readInbox(session, reading);
    const { inbox, record } = shown;
    this.out.base.board = inbox.board;
    this.print<typeof json>(record, () => inboxText(shown));
    await noteTold(shown, this.out);
    if (record.timed_out && this.flags['fail-timeout']) throw new Exit(EXIT.checkFailed);
  }
}
