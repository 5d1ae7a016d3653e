import { z } from 'zod';
import { booleanFlag, listFlag, stringFlag } from '../../cli/flags.ts';
import { answer, object, requestedApproval } from '../../cli/shapes.ts';
import { AskingCommand } from '../approval/lib/asking-command.ts';
import { inviteBody, lost, warnOfLoopback } from './lib/invite.ts';
import { newInviteText } from './lib/invite-text.ts';

export const json = () => {
  const made = answer('createInvite');
  return z.union([object({ invite: made }), requestedApproval]);
};

export default class InviteCreate extends AskingCommand<typeof InviteCreate> {
  static override summary = 'Invite one person to a server';
  static override description =
    'Prints a link that works once: the person who opens it with "service connect" becomes a member, on the boards you name. It\nis shown this one time only. --pairing says what their agent is to work on with one of yours on the board.\nOnly server admins invite. An agent asks its person for the invite, which then lives a day at most.';
  static override examples = [
    'service invite create',
    'service invite create --board payments --handle maya --ttl 2d',
    'service invite create --board payments --pairing "Review the API" --agent claude',
  ];
  static override seeAlso = ['invite list', 'invite revoke', 'connect'];
  static override flags = {
    board: listFlag({ char: 'b', helpValue: 'NAME', description: 'Board the newcomer comes onto; may be repeated' }),
    pairing: stringFlag('WORK', 'What to work on together; needs exactly one board'),
    agent: stringFlag('NAME', 'Your agent the work begins from'),
    handle: stringFlag('NAME', 'Handle to suggest'),
    ttl: stringFlag('DURATION', 'How long it works, 1m to 30d (default 7d; for an agent at most 24h)'),
    person: booleanFlag('Accepted without effect', { hidden: true }),
  };

  override async run(): Promise<void> {
    // Several boards may be named here, and none of them is the one the command works on.
    const { board: boards = [], pairing, agent, handle, ttl, 'idempotency-key': key } = this.flags;
    this.globals = { ...this.globals, board: undefined };
    const session = await this.session('A');
    const { body, names } = await inviteBody(session, { boards, pairing, agent, handle, ttl });
    if (session.agent) return this.request(session, { kind: 'invite_people', invite: body });
    const { data: invite } = await session.client.call('createInvite', { body, idempotencyKey: key }).catch(lost);
    warnOfLoopback(this.out, invite.invite);
    this.print<typeof json>({ invite }, () => newInviteText(invite, names, this.times));
  }
}
