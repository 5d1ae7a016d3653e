import { BaseCommand, required } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { fields } from '../../cli/terminal/fields.ts';
import { showEnd, showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import type { Answer } from '../../contract/types.ts';

export const json = () => object({ invite: answer('getInvite') });

export default class InviteShow extends BaseCommand<typeof InviteShow> {
  static override summary = 'Show one of your invites';
  static override description = 'Everything but its link, which was shown once.';
  static override examples = ['service invite show inv_01K5A0000000000000000000V1'];
  static override seeAlso = ['invite list', 'invite update', 'invite revoke'];
  static override args = { invite: required('Id of the invite') };

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const { data: invite } = await client.call('getInvite', { params: { invite: this.args.invite } });
    this.print<typeof json>({ invite }, () => inviteText(invite, this.times));
  }
}

const inviteText = (invite: Answer<'getInvite'>, times: TimeStyle): string =>
  fields([
    ['id', invite.id],
    ['state', invite.state],
    ['made', showTime(invite.created_at, times)],
    ['ends', showEnd(invite.expires_at, times)],
    ['for', invite.suggested_handle],
    ['boards', invite.boards.join(', ')],
    ['work', invite.pairing_request_id],
    ['by agent', invite.issuing_agent_id],
    ['key', invite.parent_key_id],
  ]).join('\n');
