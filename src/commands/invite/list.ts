import { z } from 'zod';
import { BaseCommand, choiceFlag, listFlags } from '../../cli/base.ts';
import { listText } from '../../cli/list.ts';
import { object } from '../../cli/shapes.ts';
import { inviteRows } from './lib/invite-text.ts';
import { ownInvites } from './lib/invites.ts';
import { invite } from './lib/shapes.ts';

export const json = () => object({ invites: z.array(invite) });

export default class InviteList extends BaseCommand<typeof InviteList> {
  static override summary = 'List your invites';
  static override description =
    'Newest first, with those your agents asked for. The link of an invite is never shown again.';
  static override examples = ['service invite list', 'service invite list --state active --json'];
  static override seeAlso = ['invite create', 'invite show', 'invite revoke'];
  static override flags = {
    state: choiceFlag(['active', 'redeemed', 'revoked', 'expired', 'all'], 'Only those in this state'),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const invites = await ownInvites(client, this.flags.state);
    if (this.out.listed(invites)) return;
    const rows = await inviteRows(invites, this.times);
    const active = invites.some((invite) => invite.state === 'active');
    const next = active && 'Revoke one: service invite revoke <id>';
    this.print<typeof json>({ invites }, () =>
      listText(`${server.url} · ${invites.length}`, rows, 'Invite somebody: service invite create', next),
    );
  }
}
