import { BaseCommand, optional } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { fields, onOneLine } from '../../cli/terminal/fields.ts';
import { showEnd, type TimeStyle } from '../../cli/terminal/time.ts';
import type { Answer } from '../../contract/types.ts';
import { inviteLink, linkText, previewOf } from './lib/invite-link.ts';

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
    const preview = await previewOf(inviteLink(await linkText(this.args.invite, deps, 'service invite preview')), deps);
    out.print({ preview }, () => previewText(preview, this.times));
  }
}

const previewText = (preview: Answer<'previewInvite'>, times: TimeStyle): string =>
  fields([
    ['server', preview.server_url],
    ['from', `@${onOneLine(preview.inviter_handle)}`],
    ['boards', onOneLine(preview.boards.map(({ name, title }) => (title ? `${name} (${title})` : name)).join(', '))],
    ['for', preview.suggested_handle],
    ['work', onOneLine(preview.work ?? '')],
    ['ends', showEnd(preview.expires_at, times)],
  ]).join('\n');
