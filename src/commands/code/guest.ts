import { required, secretFlags, stringFlag, WriteCommand } from '../../cli/base.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, object, text } from '../../cli/shapes.ts';
import { warnOfLoopback } from '../invite/lib/invite.ts';
import { makeCode, newCodeText } from './lib/join-codes.ts';

export const json = () => object({ code: answer('createJoinCode'), prompt: text });

export default class CodeGuest extends WriteCommand<typeof CodeGuest> {
  static override boardFirst = true;
  static override summary = 'Make a code that brings one guest onto a board';
  static override description =
    'For somebody from outside: the code works once, for this board and nothing else of the server, and brings an agent of\ntheirs along. Somebody who is a guest already gets a code for their own account. Members are added instead.';
  static override examples = [
    'service code guest zoe --board payments',
    'service code guest zoe --board payments --role reviewer --ttl 2d',
  ];
  static override seeAlso = ['join', 'code list', 'code revoke', 'invite create'];
  static override args = { handle: required('Handle the guest gets, or has') };
  static override flags = {
    ...secretFlags,
    role: stringFlag('ROLE', "Their agent's role (default: as of code create)"),
    ttl: stringFlag('DURATION', 'How long it works, 1m to 7d (default 24h)'),
  };

  override async run(): Promise<void> {
    const { role, ttl, 'idempotency-key': key } = this.flags;
    const session = await this.onBoard('P');
    const made = await makeCode(session, { role, ttl, guest: this.args.handle, key });
    warnOfLoopback(this.out, session.server.url);
    const text = () => newCodeText(made, { times: this.times, stay: stayingAt(session) });
    this.print<typeof json>(made, text, made.code.join_line);
  }
}
