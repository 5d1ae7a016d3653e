import { secretFlags, stringFlag, WriteCommand } from '../../cli/base.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, object, text } from '../../cli/shapes.ts';
import { makeCode, newCodeText } from './lib/join-codes.ts';

export const json = () => object({ code: answer('createJoinCode'), prompt: text });

export default class CodeCreate extends WriteCommand<typeof CodeCreate> {
  static override boardFirst = true;
  static override summary = 'Make a code that brings your sessions onto a board';
  static override description =
    'Prints a line to paste into the next session, and a text to pass on with it. The code works for sessions of its\nmaker’s person only, as often as they like until it ends. It is shown this one time.';
  static override examples = ['service code create', 'service code create --board review --role reviewer --ttl 1h'];
  static override seeAlso = ['join', 'pair', 'code list', 'code revoke', 'code guest'];
  static override flags = {
    ...secretFlags,
    role: stringFlag('ROLE', 'Their role (default: the one the board’s template means)'),
    ttl: stringFlag('DURATION', 'How long it works, 1m to 7d (default 24h)'),
  };

  override async run(): Promise<void> {
    const { role, ttl, 'idempotency-key': key } = this.flags;
    const session = await this.onBoard('A');
    const made = await makeCode(session, { role, ttl, key });
    const text = () => newCodeText(made, { times: this.times, stay: stayingAt(session) });
    this.print<typeof json>(made, text, made.code.join_line);
  }
}
