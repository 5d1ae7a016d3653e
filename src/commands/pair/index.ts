import { z } from 'zod';
import { booleanFlag, optional, stringFlag, writeFlags } from '../../cli/flags.ts';
import { agreedOnJoin, board, flag, member, object, seatUse, text } from '../../cli/shapes.ts';
import { DelegatedCommand } from '../board/lib/delegated-command.ts';
import { pair, pairHere, pairText } from './lib/pair.ts';

export const json = () =>
  object({
    board_record: board,
    linked: flag,
    agent: member,
    use: seatUse,
    join: z.strictObject({ code: text, line: text, role: text, expires_at: text }),
    ...agreedOnJoin,
  });

export default class Pair extends DelegatedCommand<typeof Pair> {
  static override summary = 'Let two agents of yours work together';
  static override description =
    'Creates a board from a template, gives the first agent its seat and prints one line. Paste that line into the second\nsession: service join brings it onto the same board. The folder is linked to the board unless it is linked already.';
  static override examples = ['service pair', 'service pair writer-reviewer --title "Retry design" --name claude'];
  static override seeAlso = ['join', 'code create', 'board templates'];
  static override args = { template: optional('Template of the board (default general)') };
  static override flags = {
    title: stringFlag('TEXT', 'What the board is about'),
    name: stringFlag('AGENT', 'Name of the first agent', { char: 'm' }),
    new: booleanFlag('Create a board although this folder is linked to one'),
    ...writeFlags,
  };

  override async run(): Promise<void> {
    const { title, name, new: anew, 'idempotency-key': key } = this.flags;
    const options = { template: this.args.template ?? 'general', title, name, anew, key };
    const delegated = await this.delegated();
    if (delegated) {
      const record = await pairHere(delegated, (seat) => this.session('G', { seat }), options, this.out);
      return this.print<typeof json>(record, () => pairText(record, delegated.server.url, '', this.times));
    }
    const session = await this.session('D');
    const { record, replayed } = await pair(session, options, this.out);
    const again = this.again({ replayed });
    this.print<typeof json>(record, () => pairText(record, session.server.url, again, this.times));
  }
}
