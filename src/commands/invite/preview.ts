import { BaseCommand, optional } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { inviteLink, linkText, previewOf } from './lib/invite-link.ts';
import { previewText } from './lib/invite-text.ts';

export const json = () => object({ preview: answer('previewInvite') });

export default class InvitePreview extends BaseCommand<typeof InvitePreview> {
  static override summary = 'Look where an invite leads, without using it';
  static override description =
    'Needs nothing but the link. With - it is read from a pipe or typed unseen, so that no shell remembers it.';
  static override examples = ['service invite preview -', 'service invite preview - < invite.txt'];
  static override seeAlso = ['connect', 'invite create'];
  static override args = { invite: optional('Link of the invite, or -') };

  override async run(): Promise<void> {
    const { out, deps } = this;
    const preview = await previewOf(inviteLink(await linkText(this.args.invite, out, deps.noInput)), deps);
    out.print({ preview }, () => previewText(preview, this.times));
  }
}
