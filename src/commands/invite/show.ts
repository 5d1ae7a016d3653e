import { BaseCommand, required } from '../../cli/base.ts';
import { object } from '../../cli/shapes.ts';
import { inviteText } from './lib/invite-text.ts';
import { invite } from './lib/shapes.ts';

export const json = () => object({ invite });

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
