import { BaseCommand, listFlags } from '../../cli/base.ts';
import { listText } from '../../cli/list.ts';
import { answer, object } from '../../cli/shapes.ts';
import { inviteNoticeRows } from './lib/invite-text.ts';
import { inviteNotices } from './lib/invites.ts';

export const json = () => object({ notices: answer('listInviteNotices').shape.notices });

export default class InviteNotices extends BaseCommand<typeof InviteNotices> {
  static override summary = 'List the invites your agents asked for';
  static override description =
    'Newest first, in every state: which agent, whether you allowed it or your allowance did, and what became of it.';
  static override examples = ['service invite notices', 'service invite notices --ndjson'];
  static override seeAlso = ['invite list', 'invite revoke', 'allowance show'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const notices = await inviteNotices(client);
    if (this.out.listed(notices)) return;
    const rows = await inviteNoticeRows(notices, this.times);
    const active = notices.find(({ state }) => state === 'active');
    this.print<typeof json>({ notices }, () =>
      listText(
        `${server.url} · ${notices.length}`,
        rows,
        'Your agents asked for none. What they may do without asking: service allowance show',
        active && `Revoke one: service invite revoke ${active.id}`,
      ),
    );
  }
}
